package prompt

import (
	"errors"
	"testing"

	"github.com/google/go-cmp/cmp"

	"gatehouse/domain/plan"
	"gatehouse/domain/session"
)

// The checks of the queued transport, and which of them speaks first (AD-5, AD-7).
func TestDecideQueuedOrder(t *testing.T) {
	end := func(_ *Request, sc *Scene) { sc.Session.State = session.StateCancelled }
	replace := func(r *Request, _ *Scene) { r.IncarnationID = new(idA) }
	fill := func(_ *Request, sc *Scene) { sc.Unfinished = sc.Capacity }
	miss := func(r *Request, _ *Scene) { r.Refs = []plan.Ref{{ID: commentID, Version: 1}} }
	busy := func(r *Request, sc *Scene) {
		r.IncarnationID = new(otherID)
		sc.Session.State, sc.Unfinished = session.StateRunning, sc.Capacity-1
	}
	type change = func(*Request, *Scene)
	for name, c := range map[string]struct {
		changes []change
		want    error
	}{
		"terminal": {[]change{end, replace, fill, miss}, &session.UnavailableError{SessionID: idB, State: session.StateCancelled, Reason: "terminal"}},
		"replaced": {[]change{replace, fill, miss}, session.ErrReplaced},
		"full":     {[]change{fill, miss}, &QueueFullError{Size: 5, Maximum: 5}},
		"comments": {[]change{miss}, &plan.CommentsChangedError{Snapshot: *scene().Comments}},
		"none":     {[]change{busy}, nil},
	} {
		t.Run(name, func(t *testing.T) {
			r, sc := bare(), scene()
			r.Kind, sc.Capacity = KindQueued, 5
			for _, change := range c.changes {
				change(&r, &sc)
			}
			a, err := decide(r, sc, noon)
			if diff := cmp.Diff(c.want, err); diff != "" {
				t.Error(diff)
			}
			if err == nil && (a.Message != nil || a.Session.MessagesSeq != 0 || a.Session.QueueRevision != 12) {
				t.Errorf("accepted %+v", a)
			}
		})
	}
}

// A direct prompt is never refused for capacity: it waits for everything ahead.
func TestDecideDirectIgnoresCapacity(t *testing.T) {
	r, sc := bare(), scene()
	sc.Unfinished, sc.Capacity = 5, 5
	if _, err := decide(r, sc, noon); !errors.Is(err, session.ErrUnavailable) {
		t.Errorf("got %v", err)
	}
}
