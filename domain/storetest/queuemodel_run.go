package storetest

import (
	"log/slog"
	"slices"
	"testing"

	"pgregory.net/rapid"

	"gatehouse/domain"
	"gatehouse/domain/event"
	"gatehouse/domain/history"
	"gatehouse/domain/lifecycle"
	"gatehouse/domain/prompt"
	"gatehouse/domain/session"
	"gatehouse/domain/subagent"
	"gatehouse/domain/task"
)

// queueRun does the same to the queues of a task and to the model, and compares.
type queueRun struct {
	*promptWorld
	t          *testing.T
	cycle      *lifecycle.Service
	transcript *history.Service
	model      modelQueues
	given      []queueReservation // every one there was
	seen       map[*queueSession]seenQueue

	sessionIDs  map[*queueSession]string
	deliveryIDs map[*queueDelivery]string
	turnIDs     map[*queueTurn]string
}

type queueReservation struct {
	*queueDelivery
	token prompt.Token
}

// seenQueue is a queue as it was last read, and its tag.
type seenQueue struct{ text, tag string }

// queueModel runs random changes of queues, and steps of their delivery, against the
// model (QU-23). Two sessions, few client ids and a small capacity make sure that
// they meet.
func queueModel(t *testing.T, open Open) {
	w := newWorld(t, open)
	rapid.Check(t, func(rt *rapid.T) {
		r := newQueueRun(t, w)
		rt.Repeat(map[string]func(*rapid.T){
			"admit":       func(rt *rapid.T) { r.admitSome(rt, prompt.KindDirect) },
			"enqueue":     func(rt *rapid.T) { r.admitSome(rt, prompt.KindQueued) },
			"enqueue 2":   func(rt *rapid.T) { r.admitSome(rt, prompt.KindQueued) },
			"append":      r.appendSome,
			"edit":        r.editSome,
			"remove":      r.removeSome,
			"reorder":     r.reorderSome,
			"send now":    r.sendSome,
			"reserve":     r.reserveSome,
			"reserve 2":   r.reserveSome,
			"renew":       r.renewSome,
			"expire":      r.expireSome,
			"attempt":     r.attemptSome,
			"attempt 2":   r.attemptSome,
			"release":     r.releaseSome,
			"acknowledge": r.acknowledgeSome,
			"end turn":    r.endSome,
			"resolve":     r.resolveSome,
			"recover":     r.recoverSome,
			"auto_run":    r.pauseSome,
			"state":       r.setSome,
			"reset":       r.resetSome,
			"delete":      r.deleteSome,
			"archive":     r.archiveSome,
			"":            r.compareAll,
		})
	})
}

func newQueueRun(t *testing.T, w *world) *queueRun {
	announce := event.NewAnnouncer(w.notices, slog.New(slog.NewTextHandler(t.Output(), nil)))
	r := &queueRun{
		promptWorld: newPromptWorld(t, w),
		t:           t,
		cycle:       lifecycle.NewService(w.store.Lifecycle(), w.sessions, w.clock, announce),
		transcript:  history.NewService(w.store.History(), w.clock, announce, subagent.DefaultDelegationTools),
		model:       modelQueues{admissions: map[string]*queueAdmission{}},
		sessionIDs:  map[*queueSession]string{},
		deliveryIDs: map[*queueDelivery]string{},
		turnIDs:     map[*queueTurn]string{},
		seen:        map[*queueSession]seenQueue{},
	}
	r.prompts = prompt.NewService(prompt.Config{Store: w.store.Prompts(), Now: w.clock, Announce: announce, Capacity: modelCapacity})
	for _, id := range []string{r.sessionID, w.session(r.taskID, session.KindMain, nil).ID} {
		r.newSession(id)
	}
	return r
}

func (r *queueRun) newSession(id string) {
	s := &queueSession{state: session.StateCreated}
	r.model.sessions = append(r.model.sessions, s)
	r.sessionIDs[s] = id
}

// answered fails the run unless the service answers as the model does.
func (r *queueRun) answered(rt *rapid.T, err error, code string) {
	got := ""
	if err != nil {
		got = domain.CodeOf(err)
	}
	if got != code {
		rt.Fatalf("answer is %q (%v), the model says %q", got, err, code)
	}
}

// made notes the id of what the model has made last.
func (r *queueRun) made(id string) { r.deliveryIDs[r.model.deliveries[len(r.model.deliveries)-1]] = id }

// drawSession is one that is not deleted.
func (r *queueRun) drawSession(rt *rapid.T) *queueSession {
	return rapid.SampledFrom(slices.DeleteFunc(slices.Clone(r.model.sessions),
		func(s *queueSession) bool { return s.deleted })).Draw(rt, "session")
}

// drawDelivery is any there ever was, mostly one of the last.
func (r *queueRun) drawDelivery(rt *rapid.T) *queueDelivery {
	all := r.model.deliveries
	if len(all) == 0 {
		rt.Skip()
	}
	if rapid.IntRange(0, 3).Draw(rt, "any") > 0 {
		all = all[max(0, len(all)-modelCapacity):]
	}
	return rapid.SampledFrom(all).Draw(rt, "delivery")
}

func seldom(rt *rapid.T, what string) bool { return rapid.IntRange(0, 7).Draw(rt, what) == 7 }

func drawText(rt *rapid.T) string {
	return rapid.SampledFrom([]string{"go on", "stop", "wait"}).Draw(rt, "text")
}

func (r *queueRun) admitSome(rt *rapid.T, kind prompt.Kind) {
	id := rapid.SampledFrom([]string{"a", "b", "c", "d", "e", "f", "g", "h", "i", "j", "k", "l"}).Draw(rt, "client id")
	asked := queueRequest{
		kind: kind, session: r.drawSession(rt), content: drawText(rt),
		planMode: seldom(rt, "plan mode"), replaced: kind == prompt.KindQueued && seldom(rt, "replaced"),
	}
	request := prompt.Request{
		TaskID: r.taskID, SessionID: r.sessionIDs[asked.session], ClientID: id, Content: asked.content, PlanMode: asked.planMode,
	}
	if asked.replaced {
		request.IncarnationID = new(domain.NewID())
	}
	if _, used := r.model.admissions[id]; !used && !r.model.archived && seldom(rt, "with a comment") {
		c := r.comment(r.t)
		request.Refs, asked.comments = append(request.Refs, c.Ref()), 1
		asked.content = modelRendered(c.SelectedText, c.Body, asked.content)
	}
	admit := r.prompts.AdmitQueued
	if kind == prompt.KindDirect {
		admit = r.prompts.AdmitPrompt
	}
	a, err := admit(r.t.Context(), request)
	code, replayed := r.model.admit(id, asked)
	r.answered(rt, err, code)
	if code != "" {
		return
	}
	if !replayed {
		r.made(a.Delivery.ID)
	}
	if d := r.model.admissions[id].delivery; a.Replayed != replayed || a.Delivery.ID != r.deliveryIDs[d] || a.Delivery.State != d.state {
		rt.Fatalf("answer is %+v, the model has %+v", a, d)
	}
}

// modelRendered is a prompt with one comment, see the page on admission.
func modelRendered(selected, body, content string) string {
	return "### Plan Comments\n\n```\n" + selected + "\n```\n> " + body + "\n\n---\n\n" + content
}

func (r *queueRun) appendSome(rt *rapid.T) {
	s, content, planMode := r.drawSession(rt), drawText(rt), seldom(rt, "plan mode")
	n := len(r.model.deliveries)
	q, replayed, err := r.prompts.Append(r.t.Context(), prompt.Addition{
		TaskID: r.taskID, SessionID: r.sessionIDs[s], Content: content, PlanMode: planMode,
	})
	code := r.model.append(s, content, planMode)
	r.answered(rt, err, code)
	if code != "" {
		return
	}
	if len(r.model.deliveries) > n {
		r.made(q.Entries[len(q.Entries)-1].ID)
	}
	if replayed {
		rt.Fatal("a replay of nothing")
	}
	r.sameQueue(rt, s, q)
}

func (r *queueRun) editSome(rt *rapid.T) {
	s, d, content := r.drawSession(rt), r.drawDelivery(rt), drawText(rt)
	version := d.version
	if seldom(rt, "stale") {
		version++
	}
	q, err := r.prompts.EditEntry(r.t.Context(), prompt.EntryEdit{
		TaskID: r.taskID, SessionID: r.sessionIDs[s], EntryID: r.deliveryIDs[d], Content: content, ExpectedVersion: version,
	})
	code := r.model.edit(s, d, version, content)
	r.answered(rt, err, code)
	if code == "" {
		r.sameQueue(rt, s, q)
	}
}

func (r *queueRun) removeSome(rt *rapid.T) {
	s, d := r.drawSession(rt), r.drawDelivery(rt)
	q, err := r.prompts.RemoveEntry(r.t.Context(), r.taskID, r.sessionIDs[s], r.deliveryIDs[d])
	code := r.model.remove(s, d)
	r.answered(rt, err, code)
	if code == "" {
		r.sameQueue(rt, s, q)
	}
}

// reorderSome mostly names the right entries.
func (r *queueRun) reorderSome(rt *rapid.T) {
	s := r.drawSession(rt)
	var order []*queueDelivery
	for _, d := range r.model.queue(s) {
		if d.movable() || seldom(rt, "one too many") {
			order = append(order, d)
		}
	}
	if len(order) == 0 {
		rt.Skip()
	}
	order = rapid.Permutation(order).Draw(rt, "order")
	if seldom(rt, "twice") {
		order[0] = order[len(order)-1]
	}
	var ids []string
	for _, d := range order {
		ids = append(ids, r.deliveryIDs[d])
	}
	q, err := r.prompts.Reorder(r.t.Context(), r.taskID, r.sessionIDs[s], ids)
	code := r.model.reorder(s, order)
	r.answered(rt, err, code)
	if code == "" {
		r.sameQueue(rt, s, q)
	}
}

func (r *queueRun) archiveSome(rt *rapid.T) {
	if !r.model.archived && !seldom(rt, "really") {
		rt.Skip()
	}
	r.model.archived = !r.model.archived
	_, err := r.tasks.Update(r.t.Context(), r.taskID, task.Patch{Archived: &r.model.archived})
	r.answered(rt, err, "")
}
