// Package config holds the settings of the program: one struct is the table of
// their names, meanings and defaults. A setting is given by flag (--queue-capacity),
// by environment (GATEHOUSE_QUEUE_CAPACITY) or in a YAML file (queue-capacity), in
// this order of precedence; what is unknown or contradictory is refused with its
// name (OP-2). Values of secret settings appear in no error and no output.
package config

import (
	"time"

	"gatehouse/domain"
)

// Settings are the effective settings. The tags of a field are its row in the
// table: its name, the text of its help, and whether its value is hidden.
type Settings struct {
	Config                 string        `name:"config" usage:"YAML file with settings"`
	Listen                 string        `name:"listen" usage:"address to serve on, host:port"`
	MetricsListen          string        `name:"metrics-listen" usage:"address of its own for /metrics, host:port; empty: the one of --listen"`
	Database               string        `name:"database" usage:"sqlite:///absolute/file, sqlite://./relative/file or postgres://…" secret:"url"`
	DatabaseMaxConnections int           `name:"database-max-connections" usage:"connections to PostgreSQL at most, from 2"`
	SQLiteSynchronous      string        `name:"sqlite-synchronous" usage:"full: an answered change survives a power cut; normal: a crash of the process only"`
	Migrate                bool          `name:"migrate" usage:"bring the schema up to date at start-up"`
	Auth                   string        `name:"auth" usage:"on, or off (on a loopback address only)"`
	AdminToken             string        `name:"admin-token" usage:"first admin token of a new database, of at least 32 characters, instead of a printed one" secret:"value"`
	AllowedHosts           []string      `name:"allowed-hosts" usage:"further names that a Host header may carry on a loopback address"`
	CORSOrigins            []string      `name:"cors-origins" usage:"origins whose pages may call, each exactly scheme://host[:port]"`
	QueueCapacity          int           `name:"queue-capacity" usage:"unfinished prompts that one session may have queued"`
	MaxStreams             int           `name:"max-streams" usage:"event streams that one token may have open, subscriptions of WebSockets included; and its WebSockets"`
	AttachmentExpiry       time.Duration `name:"attachment-expiry" usage:"time that an attachment stays which no prompt takes"`
	HookURL                string        `name:"hook-url" usage:"URL that is asked before a direct prompt is admitted; empty: nobody" secret:"url"`
	HookSecret             string        `name:"hook-secret" usage:"what the questions to hook-url are signed with: whsec_ and the base64 of 24 to 64 bytes" secret:"value"`
	HookTimeout            time.Duration `name:"hook-timeout" usage:"time that hook-url has to answer, up to 10s"`
	DelegationTools        []string      `name:"delegation-tools" usage:"names of the tools by which agents start subagents"`
	AcknowledgeTimeout     time.Duration `name:"acknowledge-timeout" usage:"time that a runner has to acknowledge what it attempted; then the outcome is unknown"`
	RecoveryInterval       time.Duration `name:"recovery-interval" usage:"time between two looks for deliveries that are overdue"`
	MaxBodyBytes           Bytes         `name:"max-body-bytes" usage:"size of a request body at most"`
	MaxIngestBodyBytes     Bytes         `name:"max-ingest-body-bytes" usage:"size of a request body at most, where messages or frames are ingested"`
	RateLimit              float64       `name:"rate-limit" usage:"requests per second and token at most; 0: no limit"`
	ReadHeaderTimeout      time.Duration `name:"read-header-timeout" usage:"time a client has to send the headers of a request"`
	IdleTimeout            time.Duration `name:"idle-timeout" usage:"time an idle connection is kept"`
	ShutdownTimeout        time.Duration `name:"shutdown-timeout" usage:"time that running requests have to finish when the server is told to end"`
	LogFormat              string        `name:"log-format" usage:"auto (text on a terminal, else json), text or json"`
	LogLevel               string        `name:"log-level" usage:"debug, info, warn or error"`
	OTLPEndpoint           string        `name:"otlp-endpoint" usage:"URL that OpenTelemetry traces are sent to by OTLP over HTTP; empty: none" secret:"url"`
}

// Defaults returns the settings of a program that was told nothing (OP-1).
func Defaults() Settings {
	return Settings{
		Listen:                 "127.0.0.1:8080",
		Database:               "sqlite://./gatehouse.db",
		DatabaseMaxConnections: 16,
		SQLiteSynchronous:      "full",
		Migrate:                true,
		Auth:                   "on",
		QueueCapacity:          domain.DefaultCapacity,
		MaxStreams:             1000,
		AttachmentExpiry:       domain.DefaultAttachmentExpiry,
		HookTimeout:            5 * time.Second,
		DelegationTools:        []string{"delegate", "delegate_followup", "spawn_subagent", "subagent_followup", "Task", "Agent", "task"},
		AcknowledgeTimeout:     domain.DefaultAcknowledgeTimeout,
		RecoveryInterval:       5 * time.Second,
		MaxBodyBytes:           8 << 20,
		MaxIngestBodyBytes:     32 << 20,
		ReadHeaderTimeout:      10 * time.Second,
		IdleTimeout:            2 * time.Minute,
		ShutdownTimeout:        15 * time.Second,
		LogFormat:              "auto",
		LogLevel:               "info",
	}
}

// AuthOn reports whether requests must carry a token.
func (s Settings) AuthOn() bool { return s.Auth == "on" }
