package prompt

import (
	"context"

	"gatehouse/domain/session"
)

// AdmitQueued accepts a prompt for a session that is active, where it waits for its
// turn (the queued transport). Its transcript row is written when it is delivered.
// See admit for what it returns.
func (s *Service) AdmitQueued(ctx context.Context, r Request) (Admitted, error) {
	r.Kind = KindQueued
	return s.admit(ctx, r)
}

// checkQueued judges whether the session takes a queued prompt: it is active, still
// the one that the caller means, and owed less than it may be (AD-5).
func checkQueued(r Request, s session.Session, unfinished, capacity int64) error {
	if err := checkActive(s); err != nil {
		return err
	}
	if r.IncarnationID != nil && *r.IncarnationID != s.IncarnationID {
		return session.ErrReplaced
	}
	return checkCapacity(unfinished, capacity)
}

// checkActive is a [session.UnavailableError] for a terminal session: nothing more
// can be owed to it.
func checkActive(s session.Session) error {
	if s.State.Terminal() {
		return &session.UnavailableError{SessionID: s.ID, State: s.State, Reason: session.ReasonTerminal}
	}
	return nil
}
