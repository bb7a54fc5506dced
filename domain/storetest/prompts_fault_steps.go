package storetest

import (
	"context"
	"testing"

	"gatehouse/domain/prompt"
)

// The operations on single prompts for [PromptFaults]: each is prepared, and then run
// as often as it is broken.

func prepareAdmit(t *testing.T, w *promptWorld) func(context.Context) error {
	w.comment(t)
	r := w.request("c1", w.comment(t), w.comment(t))
	r.RequirePrimary = true
	w.stage(t, "a")
	r.AttachmentIDs = []string{w.stage(t, "b").ID, w.stage(t, "c").ID}
	return func(ctx context.Context) error {
		_, err := w.prompts.AdmitPrompt(ctx, r)
		return err
	}
}

// prepareHook is an admission that takes the lease and asks a hook.
func prepareHook(t *testing.T, w *promptWorld) func(context.Context) error {
	h := &hookWorld{promptWorld: w, steps: new(steps)}
	hooked, r := h.serviceOn(w.store), w.request("c1", w.comment(t), w.comment(t))
	return func(ctx context.Context) error {
		_, err := hooked.AdmitPrompt(ctx, r)
		return err
	}
}

func prepareRun(t *testing.T, w *promptWorld) func(context.Context) error {
	w.comment(t)
	r := w.runOf("r1", w.comment(t))
	return func(ctx context.Context) error {
		_, err := w.prompts.Run(ctx, r)
		return err
	}
}

// A client that retries looks first: staging again is no replay.
func prepareStage(_ *testing.T, w *promptWorld) func(context.Context) error {
	return func(ctx context.Context) error {
		list, err := w.store.Prompts().Attachments(ctx, w.taskID, nil, 1)
		if err == nil && len(list) == 0 {
			_, err = w.prompts.Stage(ctx, w.file("a"))
		}
		return err
	}
}

func prepareUnstage(t *testing.T, w *promptWorld) func(context.Context) error {
	id := w.stage(t, "a").ID
	return func(ctx context.Context) error { return w.prompts.DeleteAttachment(ctx, w.taskID, id) }
}

func prepareReserve(t *testing.T, w *promptWorld) func(context.Context) error {
	w.enqueue(t, "q1")
	return func(ctx context.Context) error {
		_, err := w.prompts.Reserve(ctx, w.taskID, w.sessionID, nil)
		return err
	}
}

func prepareAttempt(t *testing.T, w *promptWorld) func(context.Context) error {
	w.enqueue(t, "q1")
	r := w.reserve(t)
	return func(ctx context.Context) error {
		_, err := w.prompts.Attempt(ctx, w.taskID, r.Delivery.ID, r.Token)
		return err
	}
}

func prepareRelease(t *testing.T, w *promptWorld) func(context.Context) error {
	w.enqueue(t, "q1")
	r := w.reserve(t)
	return func(ctx context.Context) error {
		_, err := w.prompts.Release(ctx, w.taskID, r.Delivery.ID, r.Token, nil)
		return err
	}
}

func prepareAcknowledge(t *testing.T, w *promptWorld) func(context.Context) error {
	w.enqueue(t, "q1")
	r := w.reserve(t)
	w.attempt(t, r)
	return func(ctx context.Context) error {
		_, err := w.prompts.Acknowledge(ctx, w.taskID, r.Delivery.ID, r.Token, prompt.OutcomeFailed, nil)
		return err
	}
}

func prepareEnqueue(t *testing.T, w *promptWorld) func(context.Context) error {
	r := w.request("q1", w.comment(t))
	return func(ctx context.Context) error {
		_, err := w.prompts.AdmitQueued(ctx, r)
		return err
	}
}

func prepareEdit(t *testing.T, w *promptWorld) func(context.Context) error {
	d := w.enqueue(t, "q1")
	return func(ctx context.Context) error {
		_, err := w.rewrite(ctx, d, "another text")
		return err
	}
}

func prepareRemove(t *testing.T, w *promptWorld) func(context.Context) error {
	d := w.enqueue(t, "q1")
	return func(ctx context.Context) error {
		_, err := w.remove(ctx, d)
		return err
	}
}

func prepareReorder(t *testing.T, w *promptWorld) func(context.Context) error {
	first, second := w.enqueue(t, "q1"), w.enqueue(t, "q2")
	return func(ctx context.Context) error {
		_, err := w.reorder(ctx, second.ID, first.ID)
		return err
	}
}
