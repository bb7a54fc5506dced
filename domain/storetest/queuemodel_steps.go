package storetest

import (
	"time"

	"pgregory.net/rapid"

	"gatehouse/domain"
	"gatehouse/domain/prompt"
	"gatehouse/domain/session"
)

// sendSome mostly sends everything.
func (r *queueRun) sendSome(rt *rapid.T) {
	s := r.drawSession(rt)
	asked := queueSelection{stale: seldom(rt, "stale"), interrupt: rapid.Bool().Draw(rt, "interrupt"), runner: rapid.Bool().Draw(rt, "runner")}
	if len(r.model.deliveries) > 0 && rapid.Bool().Draw(rt, "selected") {
		from := r.model.queue(s)
		if seldom(rt, "of all there ever were") {
			from = r.model.deliveries
		}
		for _, d := range from {
			if rapid.Bool().Draw(rt, "this") {
				asked.entries = append(asked.entries, d)
			}
		}
	}
	request := prompt.SendNow{
		TaskID: r.taskID, SessionID: r.sessionIDs[s], ExpectedRevision: s.revision, Interrupt: asked.interrupt, Reserve: asked.runner,
	}
	for _, d := range asked.entries {
		request.EntryIDs = append(request.EntryIDs, r.deliveryIDs[d])
	}
	if asked.stale {
		request.ExpectedRevision++
	}
	got, token, err := r.prompts.SendNow(r.t.Context(), request)
	want, code := r.model.sendNow(s, asked)
	r.answered(rt, err, code)
	if code != "" {
		return
	}
	r.made(got.ID)
	if (token != "") != asked.runner || got.State != want.state || got.Content != want.content {
		rt.Fatalf("sent %+v (token %t), the model %+v", got, token != "", want)
	}
	if asked.runner {
		want.token = token
		r.given = append(r.given, queueReservation{want, token})
	}
}

func (r *queueRun) reserveSome(rt *rapid.T) {
	s := r.drawSession(rt)
	got, err := r.prompts.Reserve(r.t.Context(), r.taskID, r.sessionIDs[s], nil)
	want, code := r.model.reserve(s)
	r.answered(rt, err, code)
	if (got == nil) != (want == nil) || got != nil && (got.Delivery.ID != r.deliveryIDs[want] || got.Delivery.Content != want.content) {
		rt.Fatalf("handed out %+v, the model %+v", got, want)
	}
	if got != nil {
		want.token = got.Token
		r.given = append(r.given, queueReservation{want, got.Token})
	}
}

// drawGiven is mostly one of the last reservations.
func (r *queueRun) drawGiven(rt *rapid.T) queueReservation {
	if len(r.given) == 0 {
		rt.Skip()
	}
	some := r.given
	if !seldom(rt, "an old one") {
		some = some[max(0, len(some)-2):]
	}
	return rapid.SampledFrom(some).Draw(rt, "reservation")
}

func (r *queueRun) renewSome(rt *rapid.T) {
	g := r.drawGiven(rt)
	_, err := r.prompts.Renew(r.t.Context(), r.taskID, r.deliveryIDs[g.queueDelivery], g.token, nil)
	r.answered(rt, err, g.holds(g.token))
}

// expireSome lets the time pass: a lease ends, or the patience with an attempt.
func (r *queueRun) expireSome(rt *rapid.T) {
	g := r.drawGiven(rt)
	r.tx(r.t, func(tx prompt.Tx) error {
		d, err := tx.Delivery(r.t.Context(), r.taskID, r.deliveryIDs[g.queueDelivery])
		if err != nil {
			return err
		}
		now, err := tx.Now(r.t.Context())
		switch {
		case err != nil:
			return err
		case d.State == prompt.StateReserved:
			d.LeaseExpiresAt = new(now.Add(-time.Microsecond))
			g.expired = true
		case d.State == prompt.StateAttempted:
			d.AttemptedAt = new(now.Add(-2 * domain.DefaultAcknowledgeTimeout))
			g.overdue = true
		default:
			return nil
		}
		return tx.UpdateDelivery(r.t.Context(), d, d.State)
	})
}

func (r *queueRun) attemptSome(rt *rapid.T) {
	g := r.drawGiven(rt)
	d, err := r.prompts.Attempt(r.t.Context(), r.taskID, r.deliveryIDs[g.queueDelivery], g.token)
	code := r.model.attempt(g.queueDelivery, g.token)
	r.answered(rt, err, code)
	if code == "" {
		r.turnIDs[g.turn] = *d.TurnID
	}
}

func (r *queueRun) releaseSome(rt *rapid.T) {
	g := r.drawGiven(rt)
	_, err := r.prompts.Release(r.t.Context(), r.taskID, r.deliveryIDs[g.queueDelivery], g.token, nil)
	r.answered(rt, err, r.model.release(g.queueDelivery, g.token))
}

func (r *queueRun) acknowledgeSome(rt *rapid.T) {
	g := r.drawGiven(rt)
	outcome := rapid.SampledFrom(prompt.Outcomes).Draw(rt, "outcome")
	d, err := r.prompts.Acknowledge(r.t.Context(), r.taskID, r.deliveryIDs[g.queueDelivery], g.token, outcome, nil)
	code := r.model.acknowledge(g.queueDelivery, g.token, outcome)
	r.answered(rt, err, code)
	if code == "" && d.State != g.state {
		rt.Fatalf("answer is %+v, the model has %+v", d, g.queueDelivery)
	}
}

// endSome ends a turn, as its runner does: also one that has ended.
func (r *queueRun) endSome(rt *rapid.T) {
	s := r.drawSession(rt)
	if len(s.turns) == 0 {
		rt.Skip()
	}
	turn := rapid.SampledFrom(s.turns[max(0, len(s.turns)-2):]).Draw(rt, "turn")
	_, err := r.sessions.EndTurn(r.t.Context(), r.taskID, r.turnIDs[turn], session.TurnCompleted)
	r.answered(rt, err, "")
	s.endTurn(turn, session.TurnCompleted)
}

func (r *queueRun) resolveSome(rt *rapid.T) {
	d := r.drawDelivery(rt)
	resolution := rapid.SampledFrom(prompt.Resolutions).Draw(rt, "resolution")
	got, err := r.prompts.Resolve(r.t.Context(), r.taskID, r.deliveryIDs[d], resolution)
	made, code := r.model.resolve(d, resolution)
	r.answered(rt, err, code)
	if code != "" {
		return
	}
	if got.ID != r.deliveryIDs[d] || got.State != d.state || got.State == prompt.StateRequeued && got.RequeuedAs == nil {
		rt.Fatalf("answer is %+v, the model has %+v", got, d)
	}
	if made != nil {
		r.made(*got.RequeuedAs)
	}
}

func (r *queueRun) recoverSome(rt *rapid.T) {
	r.answered(rt, r.prompts.Recover(r.t.Context()), "")
	r.model.recover()
}

func (r *queueRun) pauseSome(rt *rapid.T) {
	s, paused := r.drawSession(rt), rapid.IntRange(0, 2).Draw(rt, "paused") == 0
	_, err := r.cycle.UpdateSession(r.t.Context(), r.taskID, r.sessionIDs[s], session.Patch{AutoRun: new(!paused)})
	r.answered(rt, err, "")
	if s.paused != paused {
		s.paused = paused
		s.revision++
	}
}

func (r *queueRun) setSome(rt *rapid.T) {
	s, state := r.drawSession(rt), rapid.SampledFrom(session.States).Draw(rt, "state")
	if state.Terminal() && !seldom(rt, "end it") {
		rt.Skip()
	}
	_, err := r.cycle.UpdateSession(r.t.Context(), r.taskID, r.sessionIDs[s], session.Patch{State: &state})
	r.answered(rt, err, s.setState(state))
}

func (r *queueRun) resetSome(rt *rapid.T) {
	if !seldom(rt, "really") {
		rt.Skip()
	}
	s, stale := r.drawSession(rt), seldom(rt, "stale")
	var expected *string
	if stale {
		expected = new(domain.NewID())
	}
	_, err := r.cycle.ResetSession(r.t.Context(), r.taskID, r.sessionIDs[s], expected)
	r.answered(rt, err, r.model.reset(s, stale))
}

// deleteSome deletes a session, in whose place another one comes. A terminal one is
// deleted more readily: nothing can happen to it any more.
func (r *queueRun) deleteSome(rt *rapid.T) {
	s := r.drawSession(rt)
	if !s.terminal() && !seldom(rt, "really") {
		rt.Skip()
	}
	code := r.model.delete(s)
	r.answered(rt, r.cycle.DeleteSession(r.t.Context(), r.taskID, r.sessionIDs[s]), code)
	if code == "" {
		r.newSession(r.session(r.taskID, session.KindMain, nil).ID)
	}
}
