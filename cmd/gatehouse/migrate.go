package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"text/tabwriter"
	"time"

	"github.com/spf13/cobra"

	"gatehouse/cmd/gatehouse/internal/config"
	"gatehouse/db"
)

// migrateCommand holds what is done to the schema of the database (OP-4).
func (p *program) migrateCommand() *cobra.Command {
	migrate := &cobra.Command{
		Use:   "migrate",
		Short: "Bring the schema of the database up to date, or show it",
	}
	migrate.AddCommand(
		&cobra.Command{
			Use:   "up",
			Short: "Run every pending migration",
			Args:  cobra.NoArgs,
			RunE:  p.withStore(openStore, p.migrateUp),
		},
		&cobra.Command{
			Use:   "status",
			Short: "List the migrations, and when each ran; changes nothing",
			Args:  cobra.NoArgs,
			RunE:  p.withStore(lookAtStore, p.migrateStatus),
		},
	)
	return migrate
}

// opener opens the database of the settings in one of the ways of store.go.
type opener func(context.Context, config.Settings, *slog.Logger) (*db.Store, error)

// withStore is a command that opens the database of the settings, does f with it
// and closes it.
func (p *program) withStore(open opener, f func(context.Context, *db.Store) error) func(*cobra.Command, []string) error {
	return func(cmd *cobra.Command, _ []string) error {
		cfg, log, err := p.settings(cmd)
		if err != nil {
			return err
		}
		store, err := open(cmd.Context(), cfg, log)
		if err != nil {
			return err
		}
		return errors.Join(f(cmd.Context(), store), store.Close())
	}
}

func (p *program) migrateUp(ctx context.Context, store *db.Store) error {
	ran, err := store.Migrate(ctx)
	for _, m := range ran {
		fmt.Fprintf(p.stdout, "%d\t%s\n", m.Version, m.Name)
	}
	if err != nil {
		return err
	}
	store.Activate(ctx)
	if len(ran) == 0 {
		fmt.Fprintln(p.stdout, "nothing to do: the schema is up to date")
	}
	return nil
}

func (p *program) migrateStatus(ctx context.Context, store *db.Store) error {
	all, err := store.Migrations(ctx)
	if err != nil {
		return err
	}
	return writeMigrations(p.stdout, all)
}

// writeMigrations writes a table of migrations, oldest first.
func writeMigrations(w io.Writer, all []db.Migration) error {
	table := tabwriter.NewWriter(w, 0, 0, 2, ' ', 0)
	for _, m := range all {
		state := "pending"
		if !m.AppliedAt.IsZero() {
			state = m.AppliedAt.Format(time.RFC3339)
		}
		fmt.Fprintf(table, "%d\t%s\t%s\n", m.Version, state, m.Name)
	}
	return table.Flush()
}
