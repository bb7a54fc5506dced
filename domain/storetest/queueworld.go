package storetest

import (
	"context"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"gatehouse/domain"
	"gatehouse/domain/event"
	"gatehouse/domain/lifecycle"
	"gatehouse/domain/plan"
	"gatehouse/domain/prompt"
)

// admitQueued admits r on the queued transport and returns the answer.
func (w *promptWorld) admitQueued(t *testing.T, r prompt.Request) prompt.Admitted {
	t.Helper()
	a, err := w.prompts.AdmitQueued(t.Context(), r)
	if err != nil {
		t.Fatal(err)
	}
	return a
}

// refusedQueued is an admission that must fail and leave no trace (AD-3).
func (w *promptWorld) refusedQueued(t *testing.T, r prompt.Request) error {
	t.Helper()
	before := w.state(t)
	w.notices.take()
	a, err := w.prompts.AdmitQueued(t.Context(), r)
	if err == nil {
		t.Fatalf("admitted %+v", a)
	}
	w.wantState(t, before)
	return err
}

// limited is the same world where a session may be owed no more than capacity.
func (w *promptWorld) limited(capacity int64) *promptWorld {
	limited := *w
	service := func(store prompt.Store) *prompt.Service {
		return prompt.NewService(prompt.Config{
			Store: store, Now: w.clock, Capacity: capacity, Announce: event.NewAnnouncer(w.notices, nil),
		})
	}
	limited.prompts, limited.elsewhere = service(w.store.Prompts()), service(w.far)
	return &limited
}

// deleteSession deletes the session.
func (w *promptWorld) deleteSession(t *testing.T) {
	t.Helper()
	cycle := lifecycle.NewService(w.store.Lifecycle(), w.sessions, w.clock, event.NewAnnouncer(nil, nil))
	if err := cycle.DeleteSession(t.Context(), w.taskID, w.sessionID); err != nil {
		t.Fatal(err)
	}
}

// queue reads the queue of the session.
func (w *promptWorld) queue(t *testing.T) prompt.Queue {
	t.Helper()
	q, err := w.prompts.Queue(t.Context(), w.taskID, w.sessionID)
	if err != nil {
		t.Fatal(err)
	}
	return q
}

// changes is a change of the queue: what it answers is what is read then, it adds
// one to the revision (DL-11), makes another tag (API-6) and is told once.
func (w *promptWorld) changes(t *testing.T, do func() (prompt.Queue, error)) prompt.Queue {
	t.Helper()
	before := w.queue(t)
	w.notices.take()
	after, err := do()
	if err != nil {
		t.Fatal(err)
	}
	w.wantNotices(t, event.Change{Sessions: []event.SessionChange{{SessionID: w.sessionID, Queue: true}}})
	if diff := cmp.Diff(w.queue(t), after, jsonEqual, cmpopts.EquateEmpty()); diff != "" {
		t.Errorf("queue (-read +answered):\n%s", diff)
	}
	if after.Revision != before.Revision+1 || after.Tag() == before.Tag() {
		t.Errorf("revision %d as %s after %d as %s", after.Revision, after.Tag(), before.Revision, before.Tag())
	}
	return after
}

// refusal is that of a change of the queue that must fail and leave no trace.
func (w *promptWorld) refusal(t *testing.T, do func() (prompt.Queue, error)) error {
	t.Helper()
	before := w.state(t)
	w.notices.take()
	q, err := do()
	if err == nil {
		t.Errorf("answered %+v", q)
	}
	w.wantState(t, before)
	return err
}

// refuses is refusal with the error it must be.
func (w *promptWorld) refuses(t *testing.T, want error, do func() (prompt.Queue, error)) {
	t.Helper()
	wantErr(t, w.refusal(t, do), want)
}

// rewrite edits an entry as the caller has seen it.
func (w *promptWorld) rewrite(ctx context.Context, d prompt.Delivery, content string) (prompt.Queue, error) {
	return w.prompts.EditEntry(ctx, prompt.EntryEdit{
		TaskID: w.taskID, SessionID: w.sessionID, EntryID: d.ID, Content: content, ExpectedVersion: d.Version,
	})
}

func (w *promptWorld) remove(ctx context.Context, d prompt.Delivery) (prompt.Queue, error) {
	return w.prompts.RemoveEntry(ctx, w.taskID, w.sessionID, d.ID)
}

func (w *promptWorld) reorder(ctx context.Context, ids ...string) (prompt.Queue, error) {
	return w.prompts.Reorder(ctx, w.taskID, w.sessionID, ids)
}

// appended appends a text without a client id.
func (w *promptWorld) appended(ctx context.Context, content string) (prompt.Queue, error) {
	q, _, err := w.prompts.Append(ctx, prompt.Addition{TaskID: w.taskID, SessionID: w.sessionID, Content: content})
	return q, err
}

// put stores a delivery as it is, but for what places it in the session.
func (w *promptWorld) put(t *testing.T, d prompt.Delivery) prompt.Delivery {
	t.Helper()
	w.tx(t, func(tx prompt.Tx) error {
		s, err := tx.LockSession(t.Context(), w.taskID, w.sessionID)
		if err != nil {
			return err
		}
		s.LastPosition++
		d.ID, d.TaskID, d.SessionID, d.IncarnationID = domain.NewID(), w.taskID, s.ID, s.IncarnationID
		d.Position, d.Version, d.Metadata = s.LastPosition, 1, []byte("{}")
		if d.Attachments == nil {
			d.Attachments = []prompt.Attached{}
		}
		if d.PlanCommentRefs == nil {
			d.PlanCommentRefs = []plan.Ref{}
		}
		d.CreatedAt = w.clock()
		d.PendingAt, d.UpdatedAt = d.CreatedAt, d.CreatedAt
		if err := tx.InsertDelivery(t.Context(), d); err != nil {
			return err
		}
		return tx.SaveSession(t.Context(), s)
	})
	return d
}

// become puts a delivery in a state, whatever it was.
func (w *promptWorld) become(t *testing.T, id string, state prompt.State) {
	t.Helper()
	w.tx(t, func(tx prompt.Tx) error {
		d, err := tx.Delivery(t.Context(), w.taskID, id)
		if err != nil {
			return err
		}
		from := d.State
		d.State = state
		return tx.UpdateDelivery(t.Context(), d, from)
	})
}

func entryIDs(q prompt.Queue) []string {
	ids := make([]string, len(q.Entries))
	for i, d := range q.Entries {
		ids[i] = d.ID
	}
	return ids
}
