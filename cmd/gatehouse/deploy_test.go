package main

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/knadh/koanf/parsers/yaml"
	"github.com/spf13/pflag"

	"gatehouse/cmd/gatehouse/internal/config"
)

// readDeployed reads a file of the repository.
func readDeployed(t *testing.T, path string) []byte {
	t.Helper()
	b, err := os.ReadFile(filepath.Join("..", "..", path))
	if err != nil {
		t.Fatal(err)
	}
	return b
}

func readYAML(t *testing.T, path string) map[string]any {
	t.Helper()
	m, err := yaml.Parser().Unmarshal(readDeployed(t, path))
	if err != nil {
		t.Fatalf("%s: %v", path, err)
	}
	return m
}

// at walks down keys of mappings, and gives nil where there is no such way.
func at(v any, keys ...string) any {
	for _, key := range keys {
		m, _ := v.(map[string]any)
		v = m[key]
	}
	return v
}

func TestComposeServicesAreHardened(t *testing.T) { // OP-12
	compose := readYAML(t, "docker-compose.yml")
	services, _ := at(compose, "services").(map[string]any)
	for _, name := range []string{"gatehouse", "migrate", "postgres", "prometheus"} {
		s := services[name]
		drops, _ := at(s, "cap_drop").([]any)
		if at(s, "read_only") != true || !slices.Contains(drops, any("ALL")) || at(s, "healthcheck") == nil {
			t.Errorf("%s: %v", name, s)
		}
		ports, _ := at(s, "ports").([]any)
		for _, port := range ports {
			if !strings.HasPrefix(port.(string), "127.0.0.1:") {
				t.Errorf("%s publishes %v beyond this machine", name, port)
			}
		}
	}
}

// interpolated matches a variable of a compose file with what follows its name.
var interpolated = regexp.MustCompile(`\$\{[A-Z_]+[^}]*\}`)

func TestComposeSettingsAreAccepted(t *testing.T) { // OP-2, OP-12
	environment, _ := at(readYAML(t, "docker-compose.yml"), "services", "gatehouse", "environment").(map[string]any)
	var environ []string
	for name, value := range environment {
		text := interpolated.ReplaceAllString(fmt.Sprint(value), strings.Repeat("x", 32))
		environ = append(environ, name+"="+text)
	}
	cfg := loadSettings(t, environ)
	if !cfg.Postgres() || cfg.AdminToken == "" || cfg.Migrate {
		t.Errorf("%+v", cfg)
	}
	scrapes, _ := at(readYAML(t, "deploy/prometheus/prometheus.yml"), "scrape_configs").([]any)
	_, port, _ := strings.Cut(cfg.MetricsListen, ":")
	if target := fmt.Sprint(scrapes...); !strings.Contains(target, "gatehouse:"+port) {
		t.Errorf("metrics are at %s, Prometheus asks %s", cfg.MetricsListen, target)
	}
}

func TestImageSettingsAreAccepted(t *testing.T) { // OP-12
	dockerfile := string(readDeployed(t, "deploy/Dockerfile"))
	cfg := loadSettings(t, regexp.MustCompile(`GATEHOUSE_[A-Z_]+=\S+`).FindAllString(dockerfile, -1))
	if file, _ := cfg.SQLiteFile(); filepath.Dir(file) != "/data" || cfg.Loopback() {
		t.Errorf("%+v", cfg)
	}
	for _, want := range []string{"CGO_ENABLED=0", "FROM scratch\n", "USER 65532:65532\n", `CMD ["/gatehouse", "health"]`} {
		if !strings.Contains(dockerfile, want) {
			t.Errorf("no %q", want)
		}
	}
}

func loadSettings(t *testing.T, environ []string) config.Settings {
	t.Helper()
	flags := pflag.NewFlagSet("test", pflag.ContinueOnError)
	config.AddFlags(flags)
	cfg, err := config.Load(flags, environ)
	if err != nil {
		t.Fatal(err)
	}
	return cfg
}

func TestDashboard(t *testing.T) { // OP-8
	var dashboard struct {
		UID    string
		Panels []struct {
			ID      int
			Title   string
			Targets []struct{ Expr string }
		}
	}
	if err := json.Unmarshal(readDeployed(t, "deploy/grafana/gatehouse.json"), &dashboard); err != nil {
		t.Fatal(err)
	}
	var queries strings.Builder
	for i, panel := range dashboard.Panels {
		if panel.ID != i+1 || panel.Title == "" || len(panel.Targets) == 0 {
			t.Errorf("panel %d: %+v", i, panel)
		}
		for _, target := range panel.Targets {
			queries.WriteString(target.Expr + "\n")
		}
	}
	for _, metric := range []string{
		"gatehouse_http_requests_total", "gatehouse_http_request_duration_seconds_bucket", "gatehouse_admissions_total",
		"gatehouse_deliveries_total", "gatehouse_delivery_queue_depth", "gatehouse_delivery_oldest_pending_age_seconds",
		"gatehouse_recovery_total", "gatehouse_delivery_lease_losses_total", "gatehouse_plan_comment_mutations_total",
		"gatehouse_turn_hook_duration_seconds_bucket",
		"gatehouse_subagent_context_frames_total", "gatehouse_subagent_context_shortfall", "gatehouse_subagent_context_excess",
		"gatehouse_event_subscribers", "gatehouse_websocket_connections", "gatehouse_event_disconnects_total",
		"go_sql_in_use_connections", "gatehouse_sqlite_wal_bytes", "gatehouse_sqlite_commit_transactions_sum",
	} {
		if !strings.Contains(queries.String(), metric+"{") {
			t.Errorf("no panel shows %s", metric)
		}
	}
}
