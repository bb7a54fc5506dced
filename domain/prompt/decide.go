package prompt

import (
	"time"

	"gatehouse/domain/event"
	"gatehouse/domain/plan"
	"gatehouse/domain/session"
	"gatehouse/domain/task"
)

// Scene is what an admission finds, read under the locks of its transaction. Of the
// task it has id, archived, primary session and change number; of the session its
// id, task, state, incarnation and numbers; of the primary one id and state.
type Scene struct {
	Task       task.Task
	Prior      *Prior           // what the client id admitted before
	Session    *session.Session // the one to get the prompt; nil when the task has none such
	Primary    *session.Session // nil when the task has none, or [SceneQuery] did not ask
	Unfinished int64            // deliveries of the session that are still owed
	Capacity   int64            // how many it may be owed (AD-5), a setting of the service
	Comments   *plan.Snapshot   // nil when there is no plan

	// Of the attachments that the request names, those of the task, and the time by
	// the database's clock; both only when it names any.
	Attachments []Attachment
	Now         time.Time
}

// Prior is an earlier admission in its present state.
type Prior struct {
	Receipt
	Message *session.Message // nil before the boundary of a queued one, or when it was removed
}

// Acceptance is what an accepted prompt writes, all of it or nothing (AD-3).
type Acceptance struct {
	Admission Admission
	Delivery  Delivery         // claims the attachments that it carries (AD-10)
	Message   *session.Message // nil when the transcript row waits for the boundary
	Consumed  []plan.Comment   // exactly those that the refs name (AD-2)
	Session   session.Session  // with its next numbers
	Notice    event.Notice     // the change, and its number (EV-1)
}

// decide judges a canonical request that was not admitted before, in the order of
// the design, and returns what its admission writes.
func decide(r Request, sc Scene, now time.Time) (Acceptance, error) {
	if err := sc.Task.RequireActive(); err != nil {
		return Acceptance{}, err
	}
	if sc.Session == nil {
		return Acceptance{}, r.noSession()
	}
	if err := checkPrimary(r, sc); err != nil {
		return Acceptance{}, err
	}
	if err := checkSession(r, sc); err != nil {
		return Acceptance{}, err
	}
	comments, err := pick(r, sc)
	if err != nil {
		return Acceptance{}, err
	}
	text := Render(comments, r.Content)
	if err := checkSize(text); err != nil {
		return Acceptance{}, err
	}
	attached, err := claim(r.AttachmentIDs, sc.Attachments, sc.Now)
	if err != nil {
		return Acceptance{}, err
	}
	return accept(r, sc, comments, text, attached, now), nil
}

// checkPrimary is the primary guard (AD-4). Who asks for the primary session gets no
// other, whatever a hook put in its place.
func checkPrimary(r Request, sc Scene) error {
	if !r.RequirePrimary || sc.Primary != nil && sc.Primary.ID == r.SessionID && sc.Session.ID == r.SessionID {
		return nil
	}
	if sc.Primary == nil {
		return &PrimaryChangedError{}
	}
	return &PrimaryChangedError{&sc.Primary.ID, &sc.Primary.State}
}

// checkSession judges whether the session takes the prompt now, on its transport.
func checkSession(r Request, sc Scene) error {
	if r.Kind == KindQueued {
		return checkQueued(r, *sc.Session, sc.Unfinished, sc.Capacity)
	}
	return checkState(r, *sc.Session, sc.Unfinished)
}

// checkState judges whether the session takes a direct prompt now. It never
// overtakes what is still owed to the session.
func checkState(r Request, s session.Session, unfinished int64) error {
	var reason string
	switch {
	case s.State.Terminal():
		reason = session.ReasonTerminal
	case r.ExpectedState != nil && *r.ExpectedState != s.State:
		reason = session.ReasonChanged
	case !s.State.Promptable():
		reason = session.ReasonBusy
	case unfinished > 0:
		reason = session.ReasonPendingDeliveries
	default:
		return nil
	}
	return s.Unavailable(reason)
}

// pick returns the comments that the request names, all of the current plan and in
// exactly those versions, in canonical order (AD-1).
func pick(r Request, sc Scene) ([]plan.Comment, error) {
	if len(r.Refs) == 0 {
		return nil, nil
	}
	if sc.Comments == nil {
		return nil, &plan.CommentsChangedError{Snapshot: plan.Snapshot{TaskID: r.TaskID}}
	}
	return sc.Comments.Pick(r.Refs)
}

// accept is what is written for a prompt with text that consumes comments and claims
// attachments.
func accept(r Request, sc Scene, comments []plan.Comment, text string, attached []Attached, now time.Time) Acceptance {
	seq := sc.Task.ChangeSeq + 1
	s := *sc.Session
	s.LastPosition++
	s.QueueRevision++
	s.QueueSeq = seq
	s.UpdatedAt = now
	a := Acceptance{Consumed: comments}
	d := newDelivery(s, r.Kind, s.LastPosition, now)
	d.ClientID = &r.ClientID
	d.Content, d.PlanMode, d.Model = text, r.PlanMode, r.Model
	d.Attachments, d.PlanCommentRefs, d.Metadata = attached, r.Refs, r.ownMetadata()
	if r.Kind == KindDirect {
		a.Message = d.transcribe(&s, now)
		s.MessagesSeq = seq
	}
	a.Delivery, a.Session = d, s
	a.Admission = Admission{
		TaskID:              r.TaskID,
		ClientID:            r.ClientID,
		DeliveryID:          a.Delivery.ID,
		RequestedSessionID:  r.SessionID,
		Fingerprint:         r.fingerprint(),
		ConsumedCommentRefs: r.Refs,
		CreatedAt:           now,
	}
	a.Notice = event.Notice{TaskID: r.TaskID, Seq: seq, Change: event.Change{
		Comments: len(comments) > 0,
		Sessions: []event.SessionChange{{SessionID: s.ID, Queue: true, Messages: a.Message != nil}},
	}}
	return a
}
