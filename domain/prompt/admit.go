package prompt

import (
	"context"
	"fmt"
	"log/slog"

	"gatehouse/domain/event"
	"gatehouse/domain/plan"
	"gatehouse/domain/session"
)

// Admitted is the answer of an admission.
type Admitted struct {
	Delivery           Delivery         // in its present state
	Message            *session.Message // nil when the transcript has no row of it
	Snapshot           *plan.Snapshot   // the pending comments after it; nil when the task has no plan
	Replayed           bool             // the client id had admitted the same before
	RequestedSessionID string           // as submitted; Delivery has the one that got it
}

// AdmitPrompt accepts a prompt for a session that can take it at once (the direct
// transport). See admit for what it returns.
func (s *Service) AdmitPrompt(ctx context.Context, r Request) (Admitted, error) {
	r.Kind = KindDirect
	return s.admit(ctx, r)
}

// admit is the admission of a prompt, on every transport (AD-6). It stores the
// prompt with its receipt and consumes the comments it names, or changes nothing
// (AD-3). A repeated client id is answered with what it admitted, whatever became
// of session, comments and delivery since (AD-7).
//
// There is one look-up of a replay, under the lock of the task row: it is the one
// that counts, because two first uses of an id may race, and it comes before
// every look at the session and the comments. Another one ahead of the transaction
// would cost each admission a statement to spare a retry the short wait for the row.
// Only where a hook is asked there are two more: see admitWithHook.
//
// Errors: [domain.ValidationError], [TooLargeError], [task.ErrNotFound],
// [ConflictError], [task.ErrArchived], [session.ErrNotFound], [PrimaryChangedError],
// [session.UnavailableError], [session.ErrReplaced], [QueueFullError],
// [plan.CommentsChangedError], [ErrAttachmentNotFound], [ErrAttachmentClaimed],
// [HookError].
func (s *Service) admit(ctx context.Context, r Request) (Admitted, error) {
	a, notice, err := s.tryAdmit(ctx, r)
	return s.concluded(ctx, r.Kind, a, notice, err)
}

// concluded answers what became of an admission, and tells those who wait for it.
func (s *Service) concluded(ctx context.Context, transport Kind, a Admitted, notice event.Notice, err error) (Admitted, error) {
	s.observer.Admitted(transport, outcomeOf(a, err))
	if err != nil {
		return Admitted{}, fmt.Errorf("admit prompt: %w", err)
	}
	s.announce.Announce(ctx, notice, slog.String("delivery_id", a.Delivery.ID), slog.String("session_id", a.Delivery.SessionID))
	return a, nil
}

// tryAdmit is admit up to its effects after the commit, and the news to tell.
func (s *Service) tryAdmit(ctx context.Context, r Request) (a Admitted, n event.Notice, err error) {
	r, err = r.checked()
	if err != nil {
		return Admitted{}, event.Notice{}, err
	}
	if s.hook != nil && r.Kind == KindDirect {
		return s.admitWithHook(ctx, r)
	}
	return s.transact(ctx, r, r.SessionID)
}

// transact is step 4 of an admission, its one transaction, for the session that is
// to get the prompt.
func (s *Service) transact(ctx context.Context, r Request, sessionID string) (a Admitted, n event.Notice, err error) {
	err = s.store.Admit(ctx, r.query(sessionID), func(sc Scene) (_ *Acceptance, err error) {
		if sc.Prior != nil {
			a, n, err = replay(r, sc)
			return nil, err
		}
		accepted, err := s.decideNow(r, sc)
		if err != nil {
			return nil, err
		}
		a, n = admitted(accepted, sc), accepted.Notice
		return &accepted, nil
	})
	return a, n, err
}

// decideNow is decide with what the service knows: the time, and how much a session may
// be owed.
func (s *Service) decideNow(r Request, sc Scene) (Acceptance, error) {
	sc.Capacity = s.capacity
	return decide(r, sc, s.now())
}

// query says what the admission of r to a session has to look at.
func (r Request) query(sessionID string) SceneQuery {
	return SceneQuery{
		TaskID:    r.TaskID,
		SessionID: sessionID,
		ClientID:  r.ClientID,
		Primary:   r.RequirePrimary,

		AttachmentIDs: r.AttachmentIDs,
	}
}

// admitted is the answer to a first use of a client id.
func admitted(accepted Acceptance, sc Scene) Admitted {
	a := Admitted{
		Delivery:           accepted.Delivery,
		Message:            accepted.Message,
		Snapshot:           sc.Comments,
		RequestedSessionID: accepted.Admission.RequestedSessionID,
	}
	if len(accepted.Consumed) > 0 {
		a.Snapshot = new(sc.Comments.Without(accepted.Consumed))
	}
	return a
}

// replay is the answer to a later use, a [ConflictError] unless r is what was admitted
// (AD-7). It tells again what the first one told: that news may have been lost with the
// process, and runners may have to be woken.
func replay(r Request, sc Scene) (Admitted, event.Notice, error) {
	if fields := r.fingerprint().Differing(sc.Prior.Admission.Fingerprint); len(fields) > 0 {
		return Admitted{}, event.Notice{}, &ConflictError{fields}
	}
	d := sc.Prior.Delivery
	a := Admitted{
		Delivery:           d,
		Message:            sc.Prior.Message,
		Snapshot:           sc.Comments,
		Replayed:           true,
		RequestedSessionID: sc.Prior.Admission.RequestedSessionID,
	}
	return a, event.Notice{TaskID: d.TaskID, Seq: sc.Task.ChangeSeq, Change: *queueChange(d.SessionID)}, nil
}
