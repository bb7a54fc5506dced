package shutdown_test

import (
	"context"
	"net"
	"net/http/httptrace"
	"testing"
	"time"
)

// onContinue closes reading when the server asks for the body of the request.
func onContinue(ctx context.Context, reading chan struct{}) context.Context {
	return httptrace.WithClientTrace(ctx, &httptrace.ClientTrace{Got100Continue: func() { close(reading) }})
}

// accepts reports whether somebody takes connections at an address.
func accepts(t *testing.T, address string) bool {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), time.Second)
	defer cancel()
	c, err := new(net.Dialer).DialContext(ctx, "tcp", address)
	if err != nil {
		return false
	}
	_ = c.Close()
	return true
}
