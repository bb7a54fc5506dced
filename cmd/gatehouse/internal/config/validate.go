package config

import (
	"encoding/base64"
	"errors"
	"net"
	"net/netip"
	"net/url"
	"os"
	"slices"
	"strconv"
	"strings"
	"time"
	"unicode/utf8"

	"gatehouse/domain"
)

// Bounds of settings.
const (
	minAdminToken    = 32      // characters (OP-2)
	minConnections   = 2       // one may wait for a lock while another works
	maxConnections   = 10_000  // far above what PostgreSQL serves well
	maxQueueCapacity = 100_000 // entries; every one of them is part of a snapshot
	maxStreams       = 100_000
	maxBody          = 1 << 30 // bytes
	minRecovery      = 10 * time.Millisecond
	maxRecovery      = time.Hour
	maxHookTimeout   = 10 * time.Second
	minHookKey       = 24 // bytes, as Standard Webhooks has it
	maxHookKey       = 64
)

// validate refuses, by name, settings that cannot be and that contradict each other.
func (s Settings) validate() error {
	var p problems
	p.address("listen", s.Listen)
	if s.MetricsListen != "" {
		p.address("metrics-listen", s.MetricsListen)
		_, port, _ := net.SplitHostPort(s.MetricsListen)
		p.check(s.MetricsListen != s.Listen || port == "0", "metrics-listen", "is the address of listen; leave it empty to serve both there")
	}
	p.database(s)
	p.oneOf("auth", s.Auth, "on", "off")
	p.check(s.Auth != "off" || s.Loopback(), "auth", "off is accepted with a loopback address in listen only")
	p.check(s.AdminToken == "" || utf8.RuneCountInString(s.AdminToken) >= minAdminToken, "admin-token", "must have at least %d characters", minAdminToken)
	p.check(!strings.ContainsFunc(s.AdminToken, unfitForHeader), "admin-token", "must consist of printable ASCII without spaces")
	p.origins(s.CORSOrigins)
	for _, host := range s.AllowedHosts {
		p.check(host != "" && !strings.ContainsAny(host, "/*@ "), "allowed-hosts", "must be host names, without scheme, path or wildcard")
	}
	p.prompts(s)
	p.hook(s)
	p.between("max-body-bytes", int(s.MaxBodyBytes), 1, maxBody)
	p.between("max-ingest-body-bytes", int(s.MaxIngestBodyBytes), 1, maxBody)
	p.check(s.MaxIngestBodyBytes >= s.MaxBodyBytes, "max-ingest-body-bytes", "must not be less than max-body-bytes")
	p.check(s.RateLimit >= 0 && s.RateLimit < 1e9, "rate-limit", "must be requests per second, or 0 for no limit")
	p.check(s.ReadHeaderTimeout > 0, "read-header-timeout", "must be longer than nothing")
	p.check(s.IdleTimeout > 0, "idle-timeout", "must be longer than nothing")
	p.check(s.ShutdownTimeout >= 0, "shutdown-timeout", "must not be negative")
	p.oneOf("log-format", s.LogFormat, "auto", "text", "json")
	p.oneOf("log-level", s.LogLevel, "debug", "info", "warn", "error")
	p.webURL("otlp-endpoint", s.OTLPEndpoint)
	return errors.Join(p...)
}

// Loopback reports whether the server listens for its own machine only.
func (s Settings) Loopback() bool {
	host, _, err := net.SplitHostPort(s.Listen)
	if err != nil {
		return false
	}
	ip, err := netip.ParseAddr(host)
	return host == "localhost" || err == nil && ip.IsLoopback()
}

// problems are the refusals found so far.
type problems []error

func (p *problems) check(ok bool, name, format string, args ...any) {
	if !ok {
		*p = append(*p, refuse(name, format, args...))
	}
}

func (p *problems) oneOf(name, value string, choices ...string) {
	p.check(slices.Contains(choices, value), name, "must be one of %s", strings.Join(choices, ", "))
}

func (p *problems) between(name string, value, least, most int) {
	p.check(least <= value && value <= most, name, "must be from %d to %d", least, most)
}

func (p *problems) address(name, value string) {
	_, port, err := net.SplitHostPort(value)
	if err == nil {
		_, err = strconv.ParseUint(port, 10, 16)
	}
	p.check(err == nil, name, "must be host:port")
}

func (p *problems) database(s Settings) {
	_, isFile := s.SQLiteFile()
	p.check(isFile || s.Postgres(), "database", "must be sqlite:///absolute/file, sqlite://./relative/file or postgres://…")
	p.between("database-max-connections", s.DatabaseMaxConnections, minConnections, maxConnections)
	p.oneOf("sqlite-synchronous", s.SQLiteSynchronous, "full", "normal")
}

func (p *problems) prompts(s Settings) {
	p.between("queue-capacity", s.QueueCapacity, 1, maxQueueCapacity)
	p.between("max-streams", s.MaxStreams, 1, maxStreams)
	p.check(s.AcknowledgeTimeout >= time.Second, "acknowledge-timeout", "must be at least a second")
	p.check(s.RecoveryInterval >= minRecovery && s.RecoveryInterval <= maxRecovery, "recovery-interval", "must be from %s to %s", minRecovery, maxRecovery)
	p.check(s.AttachmentExpiry >= time.Second, "attachment-expiry", "must be at least a second")
	p.check(len(s.DelegationTools) > 0, "delegation-tools", "must name at least one tool")
	for _, tool := range s.DelegationTools {
		p.check(tool != "" && len(tool) <= domain.MaxShortText, "delegation-tools", "must be names of 1 to %d bytes", domain.MaxShortText)
	}
}

func (p *problems) hook(s Settings) {
	p.webURL("hook-url", s.HookURL)
	p.check(s.HookTimeout > 0 && s.HookTimeout <= maxHookTimeout, "hook-timeout", "must be longer than nothing, and %s at most", maxHookTimeout)
	p.check((s.HookURL == "") == (s.HookSecret == ""), "hook-secret", "must be set together with hook-url")
	if s.HookSecret != "" {
		text, marked := strings.CutPrefix(s.HookSecret, "whsec_")
		key, err := base64.StdEncoding.DecodeString(text)
		p.check(marked && err == nil, "hook-secret", "must be whsec_ and base64")
		p.check(err != nil || len(key) >= minHookKey && len(key) <= maxHookKey, "hook-secret", "must hold %d to %d bytes", minHookKey, maxHookKey)
	}
}

func (p *problems) webURL(name, value string) {
	if value == "" {
		return
	}
	u, err := url.Parse(value)
	p.check(err == nil && (u.Scheme == "http" || u.Scheme == "https") && u.Host != "", name, "must be a URL of http or https")
}

func (p *problems) origins(origins []string) {
	for _, origin := range origins {
		u, err := url.Parse(origin)
		exact := err == nil && (u.Scheme == "http" || u.Scheme == "https") && u.Host != "" &&
			origin == u.Scheme+"://"+u.Host && !strings.Contains(u.Host, "*")
		p.check(exact, "cors-origins", "must be exact origins, scheme://host[:port], without path or wildcard")
	}
}

func unfitForHeader(r rune) bool { return r <= ' ' || r > '~' }

// readable tells why a file cannot be read, or nil.
func readable(path string) error {
	_, err := os.ReadFile(path) //nolint:gosec // the operator names the file
	return err
}
