package db_test

import (
	"context"
	"fmt"
	"log/slog"
	"slices"
	"testing"
	"time"

	"gatehouse/db"
	"gatehouse/domain"
	"gatehouse/domain/event"
	"gatehouse/domain/history"
	"gatehouse/domain/prompt"
	"gatehouse/domain/session"
	"gatehouse/domain/subagent"
)

type reads = map[string]func(context.Context) error

// historyReads are the reads of a transcript and its changes.
func (w planned) historyReads(t *testing.T) reads {
	t.Helper()
	h := history.NewService(w.store.History(), domain.SystemClock, event.NewAnnouncer(nil, slog.New(slog.DiscardHandler)), nil)
	middle := new(int64(5000))
	all := reads{
		"rounds": func(ctx context.Context) error { _, err := h.Rounds(ctx, w.long, history.RoundQuery{}); return err },
		"rounds before": func(ctx context.Context) error {
			_, err := h.Rounds(ctx, w.long, history.RoundQuery{Before: middle})
			return err
		},
		"merged list of a session": func(ctx context.Context) error {
			_, err := h.FileChanges(ctx, w.short, domain.PageRequest{}, "")
			return err
		},
	}
	for name, q := range map[string]history.PageQuery{
		"last rounds": {}, "rounds of messages before": {Before: middle}, "rounds of messages after": {After: middle, Rounds: new(5)},
		"last messages": {Limit: new(50)}, "messages before": {Limit: new(50), Before: middle},
		"messages after": {Limit: new(50), After: middle}, "no diffs": {Diffs: history.DiffsNone},
	} {
		all[name] = func(ctx context.Context) error { _, err := h.Messages(ctx, w.long, q); return err }
	}
	page, err := h.Messages(t.Context(), w.long, history.PageQuery{Limit: new(50)})
	if err != nil {
		t.Fatal(err)
	}
	at := slices.IndexFunc(page.Messages, func(m history.PageMessage) bool { return len(m.FileChanges) > 0 })
	change := page.Messages[at].FileChanges[0].ID
	all["one change"] = func(ctx context.Context) error { _, err := h.FileChange(ctx, change); return err }
	all["texts"] = func(ctx context.Context) error {
		return w.store.History().InRead(ctx, func(ctx context.Context, tx history.ReadTx) error {
			_, err := tx.Texts(ctx, []string{change, "none"})
			return err
		})
	}
	return all
}

// listReads are the lists beside a transcript, each with what is behind its first page.
func (w planned) listReads() reads {
	executions, contexts := subagent.NewExecutions(w.store.Executions(), domain.SystemClock, nil), subagent.NewContexts(w.store.ContextReader())
	sessions := session.NewService(w.store.Sessions(), domain.SystemClock, nil)
	prompts := prompt.NewService(prompt.Config{Store: w.store.Prompts(), Now: domain.SystemClock})
	filter := subagent.ContextFilter{SessionID: w.long}
	return reads{
		"executions": second(func(ctx context.Context, r domain.PageRequest) (domain.Page[subagent.Execution], error) {
			return executions.List(ctx, w.long, r)
		}),
		"contexts": second(func(ctx context.Context, r domain.PageRequest) (domain.Page[subagent.Context], error) {
			return contexts.List(ctx, filter, r)
		}),
		"summary of contexts": func(ctx context.Context) error {
			_, err := contexts.Summary(ctx, subagent.ContextFilter{SessionID: w.short})
			return err
		},
		"sessions": second(func(ctx context.Context, r domain.PageRequest) (domain.Page[session.Session], error) {
			return sessions.List(ctx, w.task, r)
		}),
		"turns": second(func(ctx context.Context, r domain.PageRequest) (domain.Page[session.Turn], error) {
			return sessions.Turns(ctx, w.long, r)
		}),
		"deliveries": second(func(ctx context.Context, r domain.PageRequest) (domain.Page[prompt.Delivery], error) {
			return prompts.Deliveries(ctx, w.task, nil, r)
		}),
		"attachments": second(func(ctx context.Context, r domain.PageRequest) (domain.Page[prompt.Attachment], error) {
			return prompts.Attachments(ctx, w.task, r)
		}),
	}
}

// second reads the first two pages of a list.
func second[T any](list func(context.Context, domain.PageRequest) (domain.Page[T], error)) func(context.Context) error {
	return func(ctx context.Context) error {
		page, err := list(ctx, domain.PageRequest{Limit: 10})
		if err != nil {
			return err
		}
		if page.NextCursor == nil {
			return fmt.Errorf("all %d are on the first page", len(page.Items))
		}
		_, err = list(ctx, domain.PageRequest{Limit: 10, Cursor: *page.NextCursor})
		return err
	}
}

// queueReads are what runners, and recovery, look at again and again.
func (w planned) queueReads() reads {
	store := w.store.Prompts()
	prompts := prompt.NewService(prompt.Config{
		Store: store, Now: domain.SystemClock, Announce: event.NewAnnouncer(nil, slog.New(slog.DiscardHandler)),
	})
	overdue := func(state prompt.State, after *domain.Position) func(context.Context) error {
		return func(ctx context.Context) error {
			_, err := store.Overdue(ctx, state, time.Now(), after, 100)
			return err
		}
	}
	some := &domain.Position{At: time.Now(), ID: domain.NewID()}
	return reads{
		"queue": func(ctx context.Context) error { _, err := prompts.Queue(ctx, w.task, w.short); return err },
		"watch": func(ctx context.Context) error { _, err := store.Watch(ctx, w.task, w.short); return err },
		"reserve and release": func(ctx context.Context) error {
			r, err := prompts.Reserve(ctx, w.task, w.short, nil)
			if err != nil {
				return err
			}
			_, err = prompts.Release(ctx, w.task, r.Delivery.ID, r.Token, nil)
			return err
		},
		"leases":         overdue(prompt.StateReserved, nil),
		"later leases":   overdue(prompt.StateReserved, some),
		"attempts":       overdue(prompt.StateAttempted, nil),
		"later attempts": overdue(prompt.StateAttempted, some),
		"backlog":        func(ctx context.Context) error { _, err := store.Backlog(ctx); return err },
		"receipt":        func(ctx context.Context) error { _, err := prompts.Receipt(ctx, w.task, "c1"); return err },
		"expired attachments": func(ctx context.Context) error {
			_, err := store.TasksWithExpired(ctx, 10)
			return err
		},
	}
}

// lookups are what transactions look up under the lock of a task.
func (w planned) lookups() reads {
	prompts := func(look func(context.Context, prompt.Tx) error) func(context.Context) error {
		return func(ctx context.Context) error { return w.store.Prompts().InTx(ctx, w.task, look) }
	}
	tx := func(look func(context.Context, *db.Tx) error) func(context.Context) error {
		return func(ctx context.Context) error { return w.store.InTx(ctx, w.task, look) }
	}
	return reads{
		"sources": prompts(func(ctx context.Context, tx prompt.Tx) error {
			_, err := tx.Sources(ctx, domain.NewID())
			return err
		}),
		"running turns": prompts(func(ctx context.Context, tx prompt.Tx) error {
			_, err := tx.RunningTurns(ctx, w.short)
			return err
		}),
		"running executions": tx(func(ctx context.Context, tx *db.Tx) error {
			_, err := tx.RunningExecutions(ctx, w.short)
			return err
		}),
		"last run": tx(func(ctx context.Context, tx *db.Tx) error { _, _, err := tx.LastRun(ctx, w.short); return err }),
		"later runs": tx(func(ctx context.Context, tx *db.Tx) error {
			_, err := tx.LaterRuns(ctx, w.short, 1)
			return err
		}),
		"free delegation": tx(func(ctx context.Context, tx *db.Tx) error {
			_, err := tx.FreeDelegation(ctx, w.short, "call")
			return err
		}),
		"executions of calls": tx(func(ctx context.Context, tx *db.Tx) error {
			_, err := tx.ExecutionsOf(ctx, w.short, []subagent.Delegation{{ToolCallID: "call", MessageID: domain.NewID()}})
			return err
		}),
		"prior messages": tx(func(ctx context.Context, tx *db.Tx) error {
			_, err := tx.PriorMessages(ctx, []string{domain.NewID()})
			return err
		}),
		"root workspace": tx(func(ctx context.Context, tx *db.Tx) error { _, err := tx.RootWorkspace(ctx, w.short); return err }),
	}
}
