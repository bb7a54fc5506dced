package main

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"log/slog"
	"os"

	"gatehouse/cmd/gatehouse/internal/config"
	"gatehouse/db"
)

// openStore opens the database of the settings. It does not touch the schema.
func openStore(ctx context.Context, cfg config.Settings, log *slog.Logger) (*db.Store, error) {
	return db.Open(ctx, storeOptions(cfg, log))
}

// lookAtStore opens the database of the settings to be read. It changes nothing, and
// makes no database where there is none.
func lookAtStore(ctx context.Context, cfg config.Settings, log *slog.Logger) (*db.Store, error) {
	options := storeOptions(cfg, log)
	options.ReadOnly = true
	return db.Open(ctx, options)
}

// openExisting opens the database of the settings for a command that works on what a
// server made: a SQLite file that is not there is not made, for it would be another
// database, and an empty one.
func openExisting(ctx context.Context, cfg config.Settings, log *slog.Logger) (*db.Store, error) {
	if file, ok := cfg.SQLiteFile(); ok {
		if _, err := os.Stat(file); errors.Is(err, fs.ErrNotExist) {
			return nil, fmt.Errorf("there is no database %s: the first start of a server makes it; --database names another", file)
		}
	}
	return openStore(ctx, cfg, log)
}

// makeReady brings a database to where this program works on it: migrated, unless the
// settings leave that to somebody else (OP-4), and activated (SC-30).
func makeReady(ctx context.Context, store *db.Store, cfg config.Settings) error {
	if cfg.Migrate {
		if _, err := store.Migrate(ctx); err != nil {
			return err
		}
	}
	if err := store.Ready(ctx); err != nil {
		return fmt.Errorf("the database is not ready (gatehouse migrate up brings its schema up to date): %w", err)
	}
	store.Activate(ctx)
	return nil
}

func storeOptions(cfg config.Settings, log *slog.Logger) db.Options {
	options := db.Options{URL: cfg.Database, SQLiteSynchronous: db.SynchronousFull, Log: log}
	if cfg.SQLiteSynchronous == "normal" {
		options.SQLiteSynchronous = db.SynchronousNormal
	}
	if cfg.Postgres() { // on SQLite the store knows best: one writes, the others read
		options.MaxConnections = cfg.DatabaseMaxConnections
	}
	return options
}
