package storetest

import (
	"context"
	"log/slog"
	"testing"

	"gatehouse/domain/event"
	"gatehouse/domain/lifecycle"
	"gatehouse/domain/prompt"
)

// The operations on a combination for [PromptFaults]: it and its sources move
// together, or none of them does (DL-8).

func prepareSendNow(t *testing.T, w *promptWorld) func(context.Context) error {
	w.enqueue(t, "running")
	w.attempt(t, w.reserve(t))
	w.three(t)
	r := w.now(t)
	r.Reserve, r.Interrupt = true, true
	return func(ctx context.Context) error {
		_, _, err := w.prompts.SendNow(ctx, r)
		return err
	}
}

// prepareCombination is three entries sent now, reserved by a runner.
func prepareCombination(t *testing.T, w *promptWorld) prompt.Reservation {
	t.Helper()
	w.three(t)
	return w.sendAndReserve(t)
}

func prepareAttemptCombination(t *testing.T, w *promptWorld) func(context.Context) error {
	r := prepareCombination(t, w)
	return func(ctx context.Context) error {
		_, err := w.prompts.Attempt(ctx, w.taskID, r.Delivery.ID, r.Token)
		return err
	}
}

func prepareReleaseCombination(t *testing.T, w *promptWorld) func(context.Context) error {
	r := prepareCombination(t, w)
	return func(ctx context.Context) error {
		_, err := w.prompts.Release(ctx, w.taskID, r.Delivery.ID, r.Token, nil)
		return err
	}
}

func prepareAcknowledgeCombination(t *testing.T, w *promptWorld) func(context.Context) error {
	r := prepareCombination(t, w)
	w.attempt(t, r)
	return func(ctx context.Context) error {
		_, err := w.prompts.Acknowledge(ctx, w.taskID, r.Delivery.ID, r.Token, prompt.OutcomeUnknown, nil)
		return err
	}
}

func prepareRequeueCombination(t *testing.T, w *promptWorld) func(context.Context) error {
	r := prepareCombination(t, w)
	w.attempt(t, r)
	w.acknowledge(t, r, prompt.OutcomeUnknown)
	return func(ctx context.Context) error {
		_, err := w.prompts.Resolve(ctx, w.taskID, r.Delivery.ID, prompt.ResolutionRequeue)
		return err
	}
}

func prepareReset(t *testing.T, w *promptWorld) func(context.Context) error {
	w.attempt(t, prepareCombination(t, w))
	w.enqueue(t, "waiting")
	cycle := lifecycle.NewService(w.store.Lifecycle(), w.sessions, w.clock,
		event.NewAnnouncer(w.notices, slog.New(slog.NewTextHandler(t.Output(), nil))))
	seen := w.state(t).Sessions[0].IncarnationID
	return func(ctx context.Context) error {
		_, err := cycle.ResetSession(ctx, w.taskID, w.sessionID, &seen)
		return err
	}
}
