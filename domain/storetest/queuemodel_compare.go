package storetest

import (
	"fmt"
	"strings"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
	"pgregory.net/rapid"

	"gatehouse/domain"
	"gatehouse/domain/history"
	"gatehouse/domain/prompt"
	"gatehouse/domain/session"
)

// shownDelivery is of a delivery what both sides know.
type shownDelivery struct {
	ID, SessionID, ClientID string
	Kind                    prompt.Kind
	State                   prompt.State
	Position                int64
	Content                 string
	PlanMode                bool
	Comments                int
	Version                 int64
	HasRow                  bool
	TurnID                  string
	Into, From, As          string
	Outcome                 prompt.Outcome
}

func shown(d prompt.Delivery) shownDelivery {
	return shownDelivery{
		ID: d.ID, SessionID: d.SessionID, ClientID: deref(d.ClientID), Kind: d.Kind, State: d.State, Position: d.Position,
		Content: d.Content, PlanMode: d.PlanMode, Comments: len(d.PlanCommentRefs), Version: d.Version,
		HasRow: d.MessageID != nil, TurnID: deref(d.TurnID),
		Into: deref(d.CombinedInto), From: deref(d.RequeuedFrom), As: deref(d.RequeuedAs), Outcome: deref(d.Outcome),
	}
}

// deref is what p points to, the zero value for nil.
func deref[T any](p *T) (v T) {
	if p != nil {
		v = *p
	}
	return v
}

func (r *queueRun) shownModel(d *queueDelivery) shownDelivery {
	return shownDelivery{
		ID: r.deliveryIDs[d], SessionID: r.sessionIDs[d.session], ClientID: d.clientID, Kind: d.kind, State: d.state, Position: d.position,
		Content: d.content, PlanMode: d.planMode, Comments: d.comments, Version: d.version,
		HasRow: d.row, TurnID: r.turnIDs[d.turn],
		Into: r.deliveryIDs[d.into], From: r.deliveryIDs[d.from], As: r.deliveryIDs[d.as], Outcome: d.outcome,
	}
}

// sameQueue compares a queue with that of the model.
func (r *queueRun) sameQueue(rt *rapid.T, s *queueSession, q prompt.Queue) {
	var got, want []shownDelivery
	for _, d := range q.Entries {
		got = append(got, shown(d))
	}
	for _, d := range r.model.queue(s) {
		want = append(want, r.shownModel(d))
	}
	if diff := cmp.Diff(want, got); diff != "" {
		rt.Fatalf("queue (-model +service)\n%s", diff)
	}
	if q.Revision != s.revision || q.AutoRun == s.paused || q.Capacity != modelCapacity || q.SessionID != r.sessionIDs[s] {
		rt.Fatalf("queue is at %d, auto_run %t, capacity %d; the model %+v", q.Revision, q.AutoRun, q.Capacity, s)
	}
}

// compareAll compares what is stored with the model: queues, receipts, transcripts
// and turns.
func (r *queueRun) compareAll(rt *rapid.T) {
	r.notices.take()
	var want []shownDelivery
	for _, d := range r.model.deliveries {
		want = append(want, r.shownModel(d))
	}
	byID := cmpopts.SortSlices(func(a, b shownDelivery) bool { return a.ID < b.ID })
	if diff := cmp.Diff(want, r.receipts(rt), byID); diff != "" {
		rt.Fatalf("receipts (-model +stored)\n%s", diff)
	}
	for _, s := range r.model.sessions {
		q, err := r.prompts.Queue(r.t.Context(), r.taskID, r.sessionIDs[s])
		if s.deleted {
			r.answered(rt, err, session.ErrNotFound.Code)
			continue
		}
		r.answered(rt, err, "")
		r.sameQueue(rt, s, q)
		r.sameTag(rt, s, q)
		r.sameSession(rt, s)
	}
}

// receipts are all deliveries of the task.
func (r *queueRun) receipts(rt *rapid.T) (all []shownDelivery) {
	for page := (domain.PageRequest{}); ; {
		found, err := r.prompts.Deliveries(r.t.Context(), r.taskID, nil, page)
		r.answered(rt, err, "")
		for _, d := range found.Items {
			all = append(all, shown(d))
		}
		if found.NextCursor == nil {
			return all
		}
		page.Cursor = *found.NextCursor
	}
}

// sameTag holds that whatever a queue shows anew has another tag (API-6).
func (r *queueRun) sameTag(rt *rapid.T, s *queueSession, q prompt.Queue) {
	var entries []shownDelivery
	for _, d := range q.Entries {
		entries = append(entries, shown(d))
	}
	now := seenQueue{fmt.Sprintf("%d %t %+v", q.Revision, q.AutoRun, entries), q.Tag()}
	if before, there := r.seen[s]; there && before.text != now.text && before.tag == now.tag {
		rt.Fatalf("the tag stays %s, but the queue was %s and is %s", now.tag, before.text, now.text)
	}
	r.seen[s] = now
}

// sameSession compares state, transcript and turns.
func (r *queueRun) sameSession(rt *rapid.T, s *queueSession) {
	stored, err := r.sessions.Get(r.t.Context(), r.sessionIDs[s])
	r.answered(rt, err, "")
	if stored.State != s.state {
		rt.Fatalf("session is %+v, the model has %+v", stored, s)
	}
	page, err := r.transcript.Messages(r.t.Context(), r.sessionIDs[s], history.PageQuery{Limit: new(domain.MaxListItems)})
	r.answered(rt, err, "")
	var rows []string
	for _, m := range page.Messages {
		rows = append(rows, m.Content)
	}
	if diff := cmp.Diff(s.rows, rows); diff != "" {
		rt.Fatalf("transcript (-model +stored)\n%s", diff)
	}
	turns, err := r.store.Sessions().Turns(r.t.Context(), r.sessionIDs[s], nil, domain.MaxListItems)
	r.answered(rt, err, "")
	var want, got []string
	for _, turn := range s.turns {
		want = append(want, fmt.Sprint(r.turnIDs[turn], turn.state, turn.interrupt))
	}
	for _, turn := range turns {
		got = append(got, fmt.Sprint(turn.ID, turn.State, turn.InterruptRequested))
	}
	if diff := cmp.Diff(strings.Join(want, "\n"), strings.Join(got, "\n")); diff != "" {
		rt.Fatalf("turns (-model +stored)\n%s", diff)
	}
}
