package main

import (
	"bytes"
	"context"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"gatehouse/cmd/gatehouse/internal/config"
	"gatehouse/domain"
)

// runProgram runs one command line in an environment.
func runProgram(t *testing.T, environ []string, args ...string) (status int, stdout, stderr string) {
	t.Helper()
	var out, errs bytes.Buffer
	p := &program{stdout: &out, stderr: &errs, environ: environ}
	status = p.run(t.Context(), args)
	return status, out.String(), errs.String()
}

func TestConfigCommand(t *testing.T) { // OP-2
	token := strings.Repeat("s3cret", 6)
	status, out, errs := runProgram(t, []string{"GATEHOUSE_ADMIN_TOKEN=" + token}, "config", "--queue-capacity=3")
	if status != 0 || errs != "" {
		t.Fatalf("%d %s", status, errs)
	}
	if !strings.Contains(out, "queue-capacity: 3\n") || !strings.Contains(out, "admin-token: (hidden)\n") || strings.Contains(out, token) {
		t.Error(out)
	}
}

func TestRefusedSettingsEndTheProgram(t *testing.T) { // OP-2
	for _, args := range [][]string{{"config", "--no-such-flag"}, {"config", "--auth=off", "--listen=0.0.0.0:1"}, {"nonsense"}} {
		status, out, errs := runProgram(t, nil, args...)
		if status != 1 || out != "" || !strings.HasPrefix(errs, "gatehouse: ") {
			t.Errorf("%v: %d %q %q", args, status, out, errs)
		}
	}
}

func TestRefusedValuesAreExplained(t *testing.T) { // API-2
	database := "--database=sqlite://" + filepath.Join(t.TempDir(), "new.db")
	for _, args := range [][]string{{"migrate", "up"}, {"workspace", "create", "w"}} {
		if status, _, errs := runProgram(t, nil, append(args, database)...); status != 0 {
			t.Fatal(errs)
		}
	}
	status, out, errs := runProgram(t, nil, "token", "create", "--workspace=w", "--scope=nonsense", "--label=a\x00", database)
	if status != 1 || out != "" || !strings.Contains(errs, "scope must be one of user, runner, admin; label must ") {
		t.Errorf("%d %q %q", status, out, errs)
	}
}

func TestRefusedCommandLinesSayWhatIsTaken(t *testing.T) { // OP-2
	for _, c := range []struct {
		args  []string
		wants string
	}{
		{[]string{"nonsense"}, "gatehouse --help"},
		{[]string{"import", "nonsense"}, "gatehouse import --help"},
		{[]string{"import", "claude-code"}, "usage: gatehouse import claude-code PATH..."},
		{[]string{"token", "revoke", "a", "b"}, "usage: gatehouse token revoke ID"},
		{[]string{"serve", "nonsense"}, "usage: gatehouse serve"},
		{[]string{"serve", "--no-such-flag"}, "see gatehouse serve --help"},
		{[]string{"serve", "--queue-capacity=many"}, "see gatehouse serve --help"},
	} {
		if status, out, errs := runProgram(t, nil, c.args...); status != 1 || out != "" || !strings.Contains(errs, c.wants) {
			t.Errorf("%v: %d %q %q", c.args, status, out, errs)
		}
	}
}

// A command in the wrong folder says so, and makes no database there.
func TestCommandsMakeNoDatabase(t *testing.T) { // OP-4
	folder := t.TempDir()
	database := "--database=sqlite://" + filepath.Join(folder, "none.db")
	for _, args := range [][]string{
		{"migrate", "status"},
		{"token", "create"},
		{"token", "list"},
		{"token", "revoke", domain.NewID()},
		{"workspace", "create", "w"},
		{"workspace", "list"},
	} {
		status, out, errs := runProgram(t, nil, append(args, database)...)
		if status != 1 || out != "" || !strings.Contains(errs, "there is no database") || !strings.Contains(errs, "--database") {
			t.Errorf("%v: %d %q %q", args, status, out, errs)
		}
	}
	if left, err := os.ReadDir(folder); err != nil || len(left) != 0 {
		t.Errorf("%v %v", left, err)
	}
}

func TestMissingWorkspacesAreExplained(t *testing.T) { // API-21
	database := "--database=sqlite://" + filepath.Join(t.TempDir(), "new.db")
	if status, _, errs := runProgram(t, nil, "migrate", "up", database); status != 0 {
		t.Fatal(errs)
	}
	for name, wants := range map[string]string{"default": "Start a server", "w": "gatehouse workspace create"} {
		status, out, errs := runProgram(t, nil, "token", "create", "--workspace="+name, database)
		if status != 1 || out != "" || !strings.Contains(errs, wants) {
			t.Errorf("%s: %d %q %q", name, status, out, errs)
		}
	}
}

func TestVersionCommand(t *testing.T) {
	if status, out, _ := runProgram(t, nil, "version"); status != 0 || !strings.HasPrefix(out, "gatehouse "+version+" (commit ") {
		t.Errorf("%d %q", status, out)
	}
}

func TestReachable(t *testing.T) { // OP-12
	for addr, want := range map[string]string{
		":8080": "127.0.0.1:8080", "0.0.0.0:1": "127.0.0.1:1", "[::]:2": "127.0.0.1:2", "localhost:3": "localhost:3", "10.0.0.1:4": "10.0.0.1:4",
	} {
		if got := reachable(addr); got != want {
			t.Errorf("%s: %s, want %s", addr, got, want)
		}
	}
}

func TestLogFormat(t *testing.T) { // OP-9
	for format, prefix := range map[string]string{"auto": "{", "json": "{", "text": "time="} {
		var out bytes.Buffer
		cfg := config.Defaults()
		cfg.LogFormat, cfg.LogLevel = format, "warn"
		log := newLogger(cfg, &out)
		log.Info("left out")
		log.Warn("kept")
		if got := out.String(); !strings.HasPrefix(got, prefix) || strings.Count(got, "\n") != 1 {
			t.Errorf("%s: %q", format, got)
		}
	}
}

func TestTracing(t *testing.T) { // OP-9
	log := slog.New(slog.DiscardHandler)
	received := make(chan string, 10)
	collector := httptest.NewServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) { received <- r.URL.Path }))
	defer collector.Close()
	for _, endpoint := range []string{"", collector.URL, collector.URL + "/v1/traces"} {
		provider, flush, err := newTracing(t.Context(), endpoint, log)
		if err != nil {
			t.Fatal(err)
		}
		_, span := provider.Tracer("test").Start(context.WithoutCancel(t.Context()), "span")
		if span.IsRecording() != (endpoint != "") {
			t.Errorf("%q: recording %t", endpoint, span.IsRecording())
		}
		span.End()
		if err := flush(t.Context()); err != nil {
			t.Error(err)
		}
	}
	close(received)
	count := 0
	for path := range received {
		count++
		if path != "/v1/traces" {
			t.Errorf("sent to %s", path)
		}
	}
	if count != 2 {
		t.Errorf("flushing sent %d batches, want 2", count)
	}
}
