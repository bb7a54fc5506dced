package main

import (
	"context"
	"errors"
	"fmt"
	"log/slog"

	"github.com/spf13/cobra"

	"gatehouse/cmd/gatehouse/internal/config"
	"gatehouse/db"
	"gatehouse/domain"
	"gatehouse/domain/access"
	"gatehouse/domain/event"
	"gatehouse/domain/history"
	"gatehouse/domain/session"
	"gatehouse/domain/subagent"
	"gatehouse/domain/task"
	"gatehouse/importer"
	"gatehouse/importer/claudecode"
)

// errIncomplete ends an import that could not take in everything. What it could is in.
var errIncomplete = errors.New("not everything went in: see the problems above; running it again goes on from here")

// errNothing ends an import whose paths lead to no session.
var errNothing = errors.New("no session files at the paths given: name SESSION.jsonl, not the file of a subagent, or a folder of sessions")

// errInterrupted ends an import that was told to end.
var errInterrupted = errors.New("interrupted; running it again goes on from here")

// importOptions are what an import is told beside the settings.
type importOptions struct {
	workspace string
	json      bool
	paths     []string
}

// importCommand loads transcripts of agents into the database of the settings (HI-30
// to HI-33), also beside a server that runs on it.
func (p *program) importCommand() *cobra.Command {
	var o importOptions
	claude := &cobra.Command{
		Use:   "claude-code PATH...",
		Short: "Load session files of Claude Code, or whole folders of them",
		Long: "Loads session files of Claude Code (.jsonl), with those of their subagents, or all\n" +
			"that are below a folder such as ~/.claude/projects. What was loaded before is\n" +
			"passed over, and of a file that has grown the rest is added. Bad lines stop\n" +
			"nothing: they are counted and named. The exit status is 0 when everything else\n" +
			"went in. On an empty database this is a first start: it makes the workspace\n" +
			"\"default\" and prints the admin token.",
		Args: cobra.MinimumNArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			cfg, log, err := p.settings(cmd)
			if err != nil {
				return err
			}
			o.paths = args
			return p.importClaudeCode(cmd.Context(), cfg, log, o)
		},
	}
	claude.Flags().StringVar(&o.workspace, "workspace", access.DefaultWorkspace, "name of the workspace to load into; it must exist")
	claude.Flags().BoolVar(&o.json, "json", false, "print the summary as JSON")
	of := &cobra.Command{Use: "import", Short: "Load transcripts of agents into the database"}
	of.AddCommand(claude)
	return of
}

func (p *program) importClaudeCode(ctx context.Context, cfg config.Settings, log *slog.Logger, o importOptions) (err error) {
	found, err := claudecode.Discover(o.paths)
	if err != nil {
		return err
	}
	if len(found) == 0 {
		return errNothing
	}
	defer keepMemory(importer.EnoughMemory)() // HI-33
	// A cut-short import goes on where it was: it is enough to wait for the disk at
	// its end, once.
	cfg.SQLiteSynchronous = "normal"
	store, err := openStore(ctx, cfg, log)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, store.Close()) }()
	workspace, err := p.importWorkspace(ctx, store, environment{settings: cfg, log: log, stderr: p.stderr}, o.workspace)
	if err != nil {
		return err
	}
	loader := importer.NewLoader(importServices(store, cfg, log), workspace.ID)
	result := importer.NewResult()
	err = errors.Join(p.loadAll(ctx, loader, found, result), store.Sync(context.WithoutCancel(ctx)))
	if err := errors.Join(err, p.writeResult(result, o.json)); err != nil {
		return err
	}
	if !result.Complete() {
		return errIncomplete
	}
	return nil
}

// importWorkspace makes the database ready, as a start of the server does, and finds
// the workspace.
func (p *program) importWorkspace(ctx context.Context, store *db.Store, env environment, name string) (access.Workspace, error) {
	if err := makeReady(ctx, store, env.settings); err != nil {
		return access.Workspace{}, err
	}
	a := access.NewService(store.Access(), domain.SystemClock)
	if err := firstStart(ctx, a, env); err != nil {
		return access.Workspace{}, err
	}
	return workspaceNamed(ctx, a, name)
}

// importServices is the domain that transcripts are loaded into. Nobody listens to
// what it announces: servers find it by the numbers of the changes (EV-1).
func importServices(store *db.Store, cfg config.Settings, log *slog.Logger) importer.Services {
	announce := event.NewAnnouncer(nil, log)
	clock := importer.NewClock(domain.SystemClock)
	return importer.Services{
		Tasks:      task.NewService(store.Tasks(), clock.Now, announce),
		Sessions:   session.NewService(store.Sessions(), clock.Now, announce),
		History:    history.NewService(store.History(), domain.SystemClock, announce, cfg.DelegationTools),
		Executions: subagent.NewExecutions(store.Executions(), clock.Now, announce),
		Contexts:   subagent.NewRecorder(store.Contexts(), clock.Now, log, uncounted{}),
		Clock:      clock,
	}
}

// uncounted observes the contexts of an import, which nobody scrapes.
type uncounted struct{}

// Observed implements subagent.RecordObserver.
func (uncounted) Observed(subagent.RecordOutcome, int) {}

// loadAll loads transcripts one after the other, until one fails.
func (p *program) loadAll(ctx context.Context, loader *importer.Loader, found []claudecode.Transcript, result *importer.Result) error {
	show := p.newProgress(found)
	defer show.end()
	for _, t := range found {
		before := result.Messages
		err := loader.Load(ctx, t, result, show.add)
		switch {
		case ctx.Err() != nil:
			return errInterrupted
		case err != nil:
			return fmt.Errorf("load %s: %w", t.Path, err)
		}
		show.done(t, result.Messages-before)
	}
	return nil
}
