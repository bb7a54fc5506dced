package config

import (
	"errors"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/spf13/pflag"
)

// load runs Load as a command would: with its arguments, the environment and, if
// it is not empty, a settings file.
func load(t *testing.T, file string, environ []string, args ...string) (Settings, error) {
	t.Helper()
	flags := pflag.NewFlagSet("test", pflag.ContinueOnError)
	flags.Bool("json", false, "a flag of the command's own")
	AddFlags(flags)
	if file != "" {
		path := filepath.Join(t.TempDir(), "settings.yaml")
		if err := os.WriteFile(path, []byte(file), 0o600); err != nil {
			t.Fatal(err)
		}
		environ = append(environ, "GATEHOUSE_CONFIG="+path)
	}
	if err := flags.Parse(args); err != nil {
		t.Fatal(err)
	}
	return Load(flags, environ)
}

func TestDefaultsAreValid(t *testing.T) { // OP-1
	got, err := load(t, "", []string{"PATH=/bin", "GATEHOUSE_LISTEN=", "GATEHOUSE_TEST_POSTGRES=postgres://x"})
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(Defaults(), got); diff != "" {
		t.Error(diff)
	}
}

func TestPrecedence(t *testing.T) { // OP-2
	file := "queue-capacity: 7\nlisten: 127.0.0.1:1\nlog-level: warn\n"
	env := []string{"GATEHOUSE_QUEUE_CAPACITY=8", "GATEHOUSE_LISTEN=127.0.0.1:2"}
	got, err := load(t, file, env, "--queue-capacity=9", "--json")
	if err != nil {
		t.Fatal(err)
	}
	if got.QueueCapacity != 9 || got.Listen != "127.0.0.1:2" || got.LogLevel != "warn" || got.LogFormat != "auto" {
		t.Errorf("flag, environment, file, default gave %d, %s, %s, %s", got.QueueCapacity, got.Listen, got.LogLevel, got.LogFormat)
	}
}

func TestEverySourceUnderstandsEveryType(t *testing.T) { // OP-2
	want := Defaults()
	want.Listen, want.Auth, want.Migrate, want.DatabaseMaxConnections = "[::1]:9", "off", false, 5
	want.RateLimit, want.IdleTimeout = 2.5, 90*time.Second
	want.MaxBodyBytes, want.MaxIngestBodyBytes = 4096, 1<<20
	want.CORSOrigins, want.DelegationTools = []string{"http://a.test", "https://b.test:8443"}, []string{"Task"}
	file := `
listen: "[::1]:9"
auth: off
migrate: false
database-max-connections: 5
rate-limit: 2.5
idle-timeout: 1m30s
max-body-bytes: 4096
max-ingest-body-bytes: 1MiB
cors-origins: [http://a.test, https://b.test:8443]
delegation-tools:
  - Task
`
	flags := []string{
		"--listen=[::1]:9", "--auth=off", "--migrate=false", "--database-max-connections=5", "--rate-limit=2.5", "--idle-timeout=90s",
		"--max-body-bytes=4KiB", "--max-ingest-body-bytes=1MiB", "--cors-origins=http://a.test", "--cors-origins=https://b.test:8443", "--delegation-tools=Task",
	}
	env := []string{
		"GATEHOUSE_LISTEN=[::1]:9", "GATEHOUSE_AUTH=off", "GATEHOUSE_MIGRATE=false", "GATEHOUSE_DATABASE_MAX_CONNECTIONS=5", "GATEHOUSE_RATE_LIMIT=2.5",
		"GATEHOUSE_IDLE_TIMEOUT=90s", "GATEHOUSE_MAX_BODY_BYTES=4096", "GATEHOUSE_MAX_INGEST_BODY_BYTES=1024KiB",
		"GATEHOUSE_CORS_ORIGINS=http://a.test,https://b.test:8443", "GATEHOUSE_DELEGATION_TOOLS=Task",
	}
	for name, source := range map[string]func() (Settings, error){
		"file":        func() (Settings, error) { return load(t, file, nil) },
		"environment": func() (Settings, error) { return load(t, "", env) },
		"flags":       func() (Settings, error) { return load(t, "", nil, flags...) },
	} {
		got, err := source()
		if err != nil {
			t.Errorf("%s: %v", name, err)
			continue
		}
		got.Config = ""
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("%s: %s", name, diff)
		}
	}
}

const (
	secret     = "correct-horse-battery-staple-0123456789"
	hookSecret = "whsec_Y29ycmVjdC1ob3JzZS1iYXR0ZXJ5LXN0YXBsZQ=="
)

func TestRefusals(t *testing.T) { // OP-2
	tests := []struct {
		name  string
		file  string
		env   []string
		args  []string
		wants []string // parts of the error
	}{
		{name: "unknown variable", env: []string{"GATEHOUSE_ADMIN_TOKN=" + secret}, wants: []string{"GATEHOUSE_ADMIN_TOKN"}},
		{name: "variable in another case", env: []string{"GATEHOUSE_listen=x"}, wants: []string{"GATEHOUSE_listen"}},
		{name: "unknown key", file: "lissten: x\nfoo: {bar: 1}\n", wants: []string{"lissten", "foo"}},
		{name: "file in a file", file: "config: other.yaml\n", wants: []string{"config"}},
		{name: "no YAML", file: "admin-token: [" + secret + "\n", wants: []string{"config"}},
		{name: "no file", args: []string{"--config=/nonexistent/settings.yaml"}, wants: []string{"config", "/nonexistent/settings.yaml"}},
		{name: "several at once", env: []string{"GATEHOUSE_AUTH=maybe", "GATEHOUSE_LISTEN=8080"}, wants: []string{"auth", "listen"}},
		{name: "no number", env: []string{"GATEHOUSE_QUEUE_CAPACITY=" + secret}, wants: []string{"queue-capacity"}},
		{name: "list for a secret", file: "admin-token: [" + secret + "]\n", wants: []string{"admin-token"}},
		{name: "mapping for a secret", file: "admin-token: {a: " + secret + "}\n", wants: []string{"admin-token"}},
		{name: "short token", args: []string{"--admin-token=" + secret[:31]}, wants: []string{"admin-token"}},
		{name: "token with a space", args: []string{"--admin-token=" + secret + " x"}, wants: []string{"admin-token"}},
		{name: "auth off for everybody", args: []string{"--auth=off", "--listen=0.0.0.0:8080"}, wants: []string{"auth"}},
		{name: "auth off without host", args: []string{"--auth=off", "--listen=:8080"}, wants: []string{"auth"}},
		{name: "one connection", args: []string{"--database-max-connections=1"}, wants: []string{"database-max-connections"}},
		{name: "other database", args: []string{"--database=mysql://u:" + secret + "@h/d"}, wants: []string{"database"}},
		{name: "no file name", args: []string{"--database=sqlite:///data/"}, wants: []string{"database"}},
		{name: "any origin", args: []string{"--cors-origins=*"}, wants: []string{"cors-origins"}},
		{name: "origin with a path", args: []string{"--cors-origins=https://a.test/"}, wants: []string{"cors-origins"}},
		{name: "ingestion below the rest", args: []string{"--max-ingest-body-bytes=1MiB"}, wants: []string{"max-ingest-body-bytes"}},
		{name: "same address twice", args: []string{"--metrics-listen=127.0.0.1:8080"}, wants: []string{"metrics-listen"}},
		{name: "traces to nowhere", args: []string{"--otlp-endpoint=localhost:4318"}, wants: []string{"otlp-endpoint"}},
		{name: "no time for attachments", args: []string{"--attachment-expiry=999ms"}, wants: []string{"attachment-expiry"}},
		{name: "hook without a secret", args: []string{"--hook-url=http://hook.test"}, wants: []string{"hook-secret"}},
		{name: "secret without a hook", args: []string{"--hook-secret=" + hookSecret}, wants: []string{"hook-secret"}},
		{name: "no URL of a hook", args: []string{"--hook-url=hook.test", "--hook-secret=" + hookSecret}, wants: []string{"hook-url"}},
		{name: "hook secret without its mark", args: []string{"--hook-url=http://hook.test", "--hook-secret=" + hookSecret[6:]}, wants: []string{"hook-secret"}},
		{name: "hook secret that is no base64", args: []string{"--hook-url=http://hook.test", "--hook-secret=whsec_" + secret}, wants: []string{"hook-secret"}},
		{name: "short hook secret", args: []string{"--hook-url=http://hook.test", "--hook-secret=" + hookSecret[:26]}, wants: []string{"hook-secret"}},
		{name: "hook that may take its time", args: []string{"--hook-timeout=11s"}, wants: []string{"hook-timeout"}},
		{name: "hook without time", args: []string{"--hook-timeout=0s"}, wants: []string{"hook-timeout"}},
		{name: "no tools", args: []string{"--delegation-tools="}, wants: []string{"delegation-tools"}},
	}
	for _, tc := range tests {
		t.Run(tc.name, func(t *testing.T) {
			_, err := load(t, tc.file, tc.env, tc.args...)
			if !errors.Is(err, ErrSetting) {
				t.Fatalf("got %v, want a refusal", err)
			}
			for _, want := range tc.wants {
				if !strings.Contains(err.Error(), want) {
					t.Errorf("%q does not name %s", err, want)
				}
			}
			if strings.Contains(err.Error(), secret[:31]) {
				t.Errorf("%q shows the value", err)
			}
		})
	}
}

func TestYAMLHidesSecrets(t *testing.T) { // OP-2
	for _, database := range []string{
		"postgres://gatehouse:" + secret + "@db/gatehouse?sslmode=require",
		"postgres://db/gatehouse?user=g&password=" + secret,
		"postgres://gatehouse:" + secret + "%zz@db/gatehouse",
	} {
		s := Defaults()
		s.Database, s.AdminToken, s.HookSecret = database, secret, secret
		s.OTLPEndpoint, s.HookURL = "https://u:"+secret+"@collector.test", "https://u:"+secret+"@hook.test"
		out, err := s.YAML()
		if err != nil {
			t.Fatal(err)
		}
		if strings.Contains(string(out), secret) {
			t.Errorf("shows a secret:\n%s", out)
		}
	}
}

func TestYAMLIsASettingsFile(t *testing.T) { // OP-2
	want := Defaults()
	want.RateLimit, want.CORSOrigins, want.Database = 0.5, []string{"https://a.test"}, "postgres://g@db/gatehouse?sslmode=require"
	want.AllowedHosts = []string{"gatehouse.test"}
	out, err := want.YAML()
	if err != nil {
		t.Fatal(err)
	}
	got, err := load(t, string(out), nil)
	if err != nil {
		t.Fatal(err)
	}
	got.Config = ""
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
}

func TestTableIsComplete(t *testing.T) { // OP-2
	for _, field := range reflect.VisibleFields(reflect.TypeFor[Settings]()) {
		name, usage := field.Tag.Get("name"), field.Tag.Get("usage")
		if name == "" || usage == "" || name != strings.ToLower(name) || settingOf(variableOf(name)) != name {
			t.Errorf("%s: name %q, usage %q", field.Name, name, usage)
		}
	}
}

func TestSQLiteFile(t *testing.T) { // OP-3
	for database, want := range map[string]string{
		"sqlite:///var/lib/gatehouse.db": "/var/lib/gatehouse.db",
		"sqlite://./gatehouse.db":        "./gatehouse.db",
		"sqlite:gatehouse.db":            "gatehouse.db",
		"sqlite://":                      "",
		"sqlite:///x.db?mode=ro":         "",
		"postgres://h/d":                 "",
	} {
		got, ok := Settings{Database: database}.SQLiteFile()
		if got != want || ok != (want != "") {
			t.Errorf("%s: %q, %t", database, got, ok)
		}
	}
}

func TestBytes(t *testing.T) {
	for text, want := range map[string]int64{"0": 0, "1": 1, "8MiB": 8 << 20, "2 KiB": 2048, "1GiB": 1 << 30, "1536KiB": 1536 << 10} {
		var got, again Bytes
		if err := got.Set(text); err != nil || int64(got) != want {
			t.Errorf("%s: %d, %v", text, got, err)
		}
		if err := again.Set(got.String()); err != nil || again != got {
			t.Errorf("%s written as %s is %d, %v", text, got.String(), again, err)
		}
	}
	for _, text := range []string{"", "MiB", "-1", "1.5MiB", "1MB", "9999999999GiB"} {
		if new(Bytes).Set(text) == nil {
			t.Errorf("%q is a size", text)
		}
	}
}
