package db

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgtype"
	"github.com/jackc/pgx/v5/stdlib"
	"github.com/uptrace/bun"
	"github.com/uptrace/bun/dialect/pgdialect"
)

// minPostgres is the oldest server that is supported (OP-3), in its own form.
const minPostgres = 140000

// openPostgres opens one pool for reading and writing.
func openPostgres(ctx context.Context, opts Options) (*Store, error) {
	config, err := postgresConfig(opts.URL)
	if err != nil {
		return nil, err
	}
	if opts.ReadOnly {
		config.RuntimeParams["default_transaction_read_only"] = "on"
	}
	db := stdlib.OpenDB(*config, stdlib.OptionAfterConnect(timesInUTC))
	size := cmp.Or(opts.MaxConnections, DefaultMaxConnections)
	db.SetMaxOpenConns(size)
	db.SetMaxIdleConns(size)
	db.SetConnMaxIdleTime(5 * time.Minute)
	db.SetConnMaxLifetime(time.Hour) // a server that moved is found again
	p := &pool{DB: bun.NewDB(db, pgdialect.New())}
	s := &Store{dialect: postgres{config, make(chan struct{}, size-1)}, writer: p, reader: p, migrations: migrationFiles(postgres{})}
	if err := checkServer(ctx, p); err != nil {
		return nil, errors.Join(err, s.Close())
	}
	return s, nil
}

// postgresConfig reads the URL. What it says of the settings below counts.
func postgresConfig(dsn string) (*pgx.ConnConfig, error) {
	config, err := pgx.ParseConfig(dsn)
	if err != nil {
		// Its text may repeat the URL, and what stands in for a password there.
		return nil, errors.New("the postgres:// URL cannot be read: check its host, port and parameters, and that special characters are escaped")
	}
	for name := range config.RuntimeParams {
		if strings.HasPrefix(name, "pool_") { // of another library; the server would not know it
			return nil, fmt.Errorf("the postgres:// URL cannot size the pool: leave %s out, and set the number of connections", name)
		}
	}
	// bun writes arguments into the text of a query, so no two texts are alike
	// and preparing them, which is pgx's default, would be in vain. Statements
	// that are prepared by name are used in this mode all the same.
	config.DefaultQueryExecMode = pgx.QueryExecModeExec
	for name, value := range map[string]string{
		"application_name":                    "gatehouse",
		"lock_timeout":                        "5s",
		"statement_timeout":                   "30s",
		"idle_in_transaction_session_timeout": "60s",
		"jit":                                 "off",                // compiling takes longer than any statement here
		"plan_cache_mode":                     "force_generic_plan", // planning for the arguments takes longer than a page, and finds nothing better
	} {
		if config.RuntimeParams[name] == "" {
			config.RuntimeParams[name] = value
		}
	}
	config.RuntimeParams["timezone"] = "UTC"
	// What bun quotes is text, and ends where bun means it to end, in this form alone:
	// no default of the server or the role may choose another.
	config.RuntimeParams["standard_conforming_strings"] = "on"
	config.RuntimeParams["client_encoding"] = "UTF8"
	return config, nil
}

// timesInUTC makes stored times come back in UTC, whatever zone the process is in.
func timesInUTC(_ context.Context, c *pgx.Conn) error {
	c.TypeMap().RegisterType(&pgtype.Type{
		Name: "timestamptz", OID: pgtype.TimestamptzOID, Codec: &pgtype.TimestamptzCodec{ScanLocation: time.UTC},
	})
	return nil
}

// checkServer connects, and refuses a server that is too old.
func checkServer(ctx context.Context, p *pool) error {
	var number int
	var version string
	err := p.QueryRowContext(ctx, "SELECT current_setting('server_version_num')::int, current_setting('server_version')").
		Scan(&number, &version)
	if err != nil {
		return postgres{}.classify(err) // pgx names host, user and database, no password
	}
	if number < minPostgres {
		return fmt.Errorf("the server is PostgreSQL %s, it takes %d or newer", version, minPostgres/10000)
	}
	return nil
}
