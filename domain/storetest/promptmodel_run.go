package storetest

import (
	"errors"
	"fmt"
	"maps"
	"slices"
	"testing"

	"pgregory.net/rapid"

	"gatehouse/domain"
	"gatehouse/domain/plan"
	"gatehouse/domain/prompt"
	"gatehouse/domain/session"
	"gatehouse/domain/task"
)

// promptRun does the same to a task and to the model, and compares.
type promptRun struct {
	*promptWorld
	t          *testing.T
	model      modelPrompts
	sessionIDs [2]string
	ids        []string // of the deliveries, as the model orders them
	given      []given  // every reservation there was
}

type given struct {
	delivery *modelDelivery
	prompt.Reservation
}

// promptModel runs random admissions and steps of deliveries against the model
// (QU-23). Few client ids and comments make sure that they meet.
func promptModel(t *testing.T, open Open) {
	w := newWorld(t, open)
	rapid.Check(t, func(rt *rapid.T) {
		r := &promptRun{promptWorld: newPromptWorld(t, w), t: t, model: modelPrompts{
			comments:   map[string]int64{},
			admissions: map[string]modelAdmission{},
		}}
		r.sessionIDs = [2]string{r.sessionID, w.session(r.taskID, session.KindMain, nil).ID}
		for i := range r.model.sessions {
			r.model.sessions[i].state = session.StateCreated
		}
		rt.Repeat(map[string]func(*rapid.T){
			"comment":     r.addComment,
			"edit":        r.editComment,
			"admit":       r.admitSome,
			"admit 2":     r.admitSome, // more often than the rest
			"enqueue":     r.enqueueSome,
			"reserve":     r.reserveSome,
			"reserve 2":   r.reserveSome,
			"expire":      r.expireSome,
			"attempt":     r.attemptSome,
			"attempt 2":   r.attemptSome,
			"release":     r.releaseSome,
			"renew":       r.renewSome,
			"recover":     r.recoverAll,
			"acknowledge": r.acknowledgeSome,
			"end":         r.endSome,
			"archive":     r.toggleArchive,
			"primary":     r.changePrimary,
			"":            r.compareAll,
		})
	})
}

// answered fails the run unless the service answers as the model does.
func (r *promptRun) answered(rt *rapid.T, err error, code string) {
	got := ""
	if failure, ok := errors.AsType[*domain.Error](err); ok {
		got = failure.Code
	} else if err != nil {
		rt.Fatal(err)
	}
	if got != code {
		rt.Fatalf("answer is %q, the model says %q", got, code)
	}
}

func (r *promptRun) addComment(rt *rapid.T) {
	if r.model.archived || len(r.model.comments) > 4 {
		rt.Skip()
	}
	r.model.comments[r.comment(r.t).ID] = 1
	r.model.revision++
}

func (r *promptRun) editComment(rt *rapid.T) {
	ids := r.commentIDs()
	if r.model.archived || len(ids) == 0 {
		rt.Skip()
	}
	id := rapid.SampledFrom(ids).Draw(rt, "comment")
	ref := plan.Ref{ID: id, Version: r.model.comments[id]}
	_, err := r.plans.EditComment(r.t.Context(), r.edit(r.planID, ref, fmt.Sprintf("edit %d", ref.Version)))
	r.answered(rt, err, "")
	r.model.comments[id]++
	r.model.revision++
}

// commentIDs are in the order of their creation.
func (r *promptRun) commentIDs() (ids []string) {
	for id := range r.model.comments {
		ids = append(ids, id)
	}
	slices.Sort(ids)
	return ids
}

func (r *promptRun) drawID(rt *rapid.T) string {
	return rapid.SampledFrom([]string{"a", "b", "c", "d", "e", "f", "g", "h"}).Draw(rt, "client id")
}

func (r *promptRun) admitSome(rt *rapid.T) {
	id := r.drawID(rt)
	asked := modelRequest{
		session: rapid.IntRange(0, 1).Draw(rt, "session"),
		content: rapid.SampledFrom([]string{"go on", "stop"}).Draw(rt, "content"),
		guarded: rapid.IntRange(0, 3).Draw(rt, "guarded") == 0,
	}
	for _, comment := range r.commentIDs() {
		if rapid.Bool().Draw(rt, "send") {
			version := r.model.comments[comment]
			if rapid.IntRange(0, 9).Draw(rt, "stale") == 9 {
				version++
			}
			asked.refs = append(asked.refs, plan.Ref{ID: comment, Version: version})
		}
	}
	if prior, used := r.model.admissions[id]; used && !prior.request.queued && rapid.Bool().Draw(rt, "the same again") {
		asked = prior.request
	}
	a, err := r.prompts.AdmitPrompt(r.t.Context(), prompt.Request{
		TaskID: r.taskID, SessionID: r.sessionIDs[asked.session], ClientID: id,
		Content: asked.content, Refs: asked.refs, RequirePrimary: asked.guarded,
	})
	code, replayed := r.model.admit(id, asked)
	r.answered(rt, err, code)
	if code != "" {
		return
	}
	d := r.model.admissions[id].delivery
	if !replayed {
		r.ids = append(r.ids, a.Delivery.ID)
	}
	if a.Replayed != replayed || a.Delivery.State != d.state || a.Delivery.ID != r.idOf(d) {
		rt.Fatalf("answer is %+v, the model has %+v", a, d)
	}
}

func (r *promptRun) idOf(d *modelDelivery) string { return r.ids[slices.Index(r.model.deliveries, d)] }

func (r *promptRun) enqueueSome(rt *rapid.T) {
	id := r.drawID(rt)
	if _, used := r.model.admissions[id]; used || r.model.archived {
		rt.Skip()
	}
	w, i := *r.promptWorld, rapid.IntRange(0, 1).Draw(rt, "session")
	w.sessionID = r.sessionIDs[i]
	r.ids = append(r.ids, w.enqueue(r.t, id).ID)
	r.model.add(id, modelRequest{session: i, queued: true}, &modelDelivery{session: i, state: prompt.StatePending})
}

func (r *promptRun) reserveSome(rt *rapid.T) {
	i := rapid.IntRange(0, 1).Draw(rt, "session")
	got, err := r.prompts.Reserve(r.t.Context(), r.taskID, r.sessionIDs[i], nil)
	want, code := r.model.reserve(i)
	r.answered(rt, err, code)
	if (got == nil) != (want == nil) || got != nil && got.Delivery.ID != r.idOf(want) {
		rt.Fatalf("handed out %+v, the model %+v", got, want)
	}
	if got != nil {
		want.token = got.Token
		r.given = append(r.given, given{want, *got})
	}
}

// drawGiven is mostly the last reservation.
func (r *promptRun) drawGiven(rt *rapid.T) given {
	if len(r.given) == 0 {
		rt.Skip()
	}
	if rapid.IntRange(0, 2).Draw(rt, "an old one") > 0 {
		return r.given[len(r.given)-1]
	}
	return rapid.SampledFrom(r.given).Draw(rt, "reservation")
}

func (r *promptRun) expireSome(rt *rapid.T) {
	g := r.drawGiven(rt)
	if g.delivery.state != prompt.StateReserved {
		rt.Skip()
	}
	r.expire(r.t, g.Reservation)
	g.delivery.expired = true
}

func (r *promptRun) attemptSome(rt *rapid.T) {
	g := r.drawGiven(rt)
	_, err := r.prompts.Attempt(r.t.Context(), r.taskID, g.Delivery.ID, g.Token)
	r.answered(rt, err, r.model.attempt(g.delivery, g.Token))
}

func (r *promptRun) releaseSome(rt *rapid.T) {
	g := r.drawGiven(rt)
	_, err := r.prompts.Release(r.t.Context(), r.taskID, g.Delivery.ID, g.Token, nil)
	r.answered(rt, err, r.model.release(g.delivery, g.Token))
}

func (r *promptRun) renewSome(rt *rapid.T) {
	g := r.drawGiven(rt)
	_, err := r.prompts.Renew(r.t.Context(), r.taskID, g.Delivery.ID, g.Token, nil)
	r.answered(rt, err, g.delivery.holds(g.Token))
}

func (r *promptRun) recoverAll(rt *rapid.T) {
	r.answered(rt, r.prompts.Recover(r.t.Context()), "")
	r.model.recover()
}

func (r *promptRun) acknowledgeSome(rt *rapid.T) {
	g := r.drawGiven(rt)
	outcome := rapid.SampledFrom(prompt.Outcomes).Draw(rt, "outcome")
	d, err := r.prompts.Acknowledge(r.t.Context(), r.taskID, g.Delivery.ID, g.Token, outcome, nil)
	code := r.model.acknowledge(g.delivery, g.Token, outcome)
	r.answered(rt, err, code)
	if code == "" && (d.State != g.delivery.state || *d.Outcome != g.delivery.outcome) {
		rt.Fatalf("answer is %+v, the model has %+v", d, g.delivery)
	}
}

// endSome ends the turn of a delivery, as its runner does.
func (r *promptRun) endSome(rt *rapid.T) {
	i := slices.IndexFunc(r.model.deliveries, func(d *modelDelivery) bool { return d.turn })
	if i < 0 {
		rt.Skip()
	}
	d, err := r.prompts.Delivery(r.t.Context(), r.ids[i])
	if err != nil {
		rt.Fatal(err)
	}
	_, err = r.sessions.EndTurn(r.t.Context(), r.taskID, *d.TurnID, session.TurnCompleted)
	r.answered(rt, err, "")
	r.model.endTurn(r.model.deliveries[i])
}

func (r *promptRun) toggleArchive(rt *rapid.T) {
	if !r.model.archived && rapid.IntRange(0, 5).Draw(rt, "really") != 5 {
		rt.Skip()
	}
	r.model.archived = !r.model.archived
	_, err := r.tasks.Update(r.t.Context(), r.taskID, task.Patch{Archived: &r.model.archived})
	r.answered(rt, err, "")
}

func (r *promptRun) changePrimary(rt *rapid.T) {
	if r.model.archived {
		rt.Skip()
	}
	r.model.primary = 1 - r.model.primary
	_, err := r.tasks.SetPrimary(r.t.Context(), r.taskID, &r.sessionIDs[r.model.primary])
	r.answered(rt, err, "")
}

// compareAll compares what is stored with the model.
func (r *promptRun) compareAll(rt *rapid.T) {
	s := r.state(r.t)
	comments := map[string]int64{}
	for _, c := range s.Comments.Comments {
		comments[c.ID] = c.Version
	}
	if !maps.Equal(comments, r.model.comments) || s.Comments.Revision != r.model.revision {
		rt.Fatalf("comments are %v at %d, the model has %v at %d", comments, s.Comments.Revision, r.model.comments, r.model.revision)
	}
	if len(s.Deliveries) != len(r.model.deliveries) {
		rt.Fatalf("%d deliveries, the model has %d", len(s.Deliveries), len(r.model.deliveries))
	}
	for i, d := range s.Deliveries {
		if d.ID != r.ids[i] || d.State != r.model.deliveries[i].state {
			rt.Fatalf("delivery %d is %+v, the model has %+v", i, d, r.model.deliveries[i])
		}
	}
	for i, id := range r.sessionIDs {
		got, want := sessionOf(s, id), r.model.sessions[i]
		if got.State != want.state || got.LastMessageSeq != want.messages {
			rt.Fatalf("session %d is %+v, the model has %+v", i, got, want)
		}
	}
	running := 0
	for _, d := range r.model.deliveries {
		if d.turn {
			running++
		}
	}
	if s.runningTurns() != running {
		rt.Fatalf("%d turns run, in the model %d", s.runningTurns(), running)
	}
}
