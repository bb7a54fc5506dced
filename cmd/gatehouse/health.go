package main

import (
	"context"
	"fmt"
	"net"
	"net/http"
	"time"

	"github.com/spf13/cobra"
)

// healthTimeout is how long a server that is alive may take to say so.
const healthTimeout = 3 * time.Second

// healthCommand asks the server of these settings whether it is alive. Images
// without a shell use it as their health check (OP-12).
func (p *program) healthCommand() *cobra.Command {
	return &cobra.Command{
		Use:   "health",
		Short: "Exit with 0 when the server at --listen is alive",
		Args:  cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			cfg, _, err := p.settings(cmd)
			if err != nil {
				return err
			}
			return checkHealth(cmd.Context(), cfg.Listen)
		},
	}
}

// checkHealth asks /livez of a server that listens on addr, of this machine.
func checkHealth(ctx context.Context, addr string) error {
	ctx, cancel := context.WithTimeout(ctx, healthTimeout)
	defer cancel()
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, "http://"+reachable(addr)+"/livez", http.NoBody)
	if err != nil {
		return err
	}
	res, err := http.DefaultClient.Do(req)
	if err != nil {
		return fmt.Errorf("not alive: %w", err)
	}
	defer res.Body.Close()
	if res.StatusCode != http.StatusOK {
		return fmt.Errorf("not alive: status %d", res.StatusCode)
	}
	return nil
}

// reachable is where a server that listens on addr can be called: one that listens
// everywhere is called on the loopback address.
func reachable(addr string) string {
	host, port, err := net.SplitHostPort(addr)
	if ip := net.ParseIP(host); err == nil && (host == "" || ip.IsUnspecified()) {
		return net.JoinHostPort("127.0.0.1", port)
	}
	return addr
}
