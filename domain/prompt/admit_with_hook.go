package prompt

import (
	"context"
	"errors"

	"gatehouse/domain"
	"gatehouse/domain/event"
	"gatehouse/domain/session"
)

var errReplacement = errors.New("the replacement is not a session of the task")

// admitWithHook is the admission of a direct prompt that a hook has a say in: replay,
// then under the lease replay again, preflight, hook and transaction. What the hook
// does takes time, so the transaction judges everything once more.
func (s *Service) admitWithHook(ctx context.Context, r Request) (a Admitted, n event.Notice, err error) {
	sc, err := s.store.Scene(ctx, r.query(r.SessionID))
	if err != nil {
		return Admitted{}, event.Notice{}, err
	}
	if sc.Prior != nil { // a retry waits for nobody's hook
		return replay(r, sc)
	}
	err = s.lease.WithLease(ctx, r.TaskID, func(ctx context.Context) error {
		sc, err := s.store.Scene(ctx, r.query(r.SessionID))
		if err != nil {
			return err
		}
		if sc.Prior != nil {
			a, n, err = replay(r, sc)
			return err
		}
		would, err := s.decideNow(r, sc)
		if err != nil {
			return err
		}
		replacement, err := s.askHook(ctx, r, would.Delivery.Content)
		if err != nil {
			return err
		}
		a, n, err = s.transactInstead(ctx, r, replacement)
		return err
	})
	return a, n, err
}

// askHook returns the session that is to get a prompt, or a [HookError].
func (s *Service) askHook(ctx context.Context, r Request, text string) (sessionID string, err error) {
	replacement, err := s.hook.BeforeTurn(ctx, TurnStart{
		TaskID:         r.TaskID,
		SessionID:      r.SessionID,
		ClientID:       r.ClientID,
		Content:        text,
		Refs:           r.Refs,
		RequirePrimary: r.RequirePrimary,
		PlanMode:       r.PlanMode,
		Model:          r.Model,
		AttachmentIDs:  r.AttachmentIDs,
		Metadata:       r.Metadata,
	})
	switch {
	case err != nil:
		return "", &HookError{err}
	case replacement == nil:
		return r.SessionID, nil
	}
	id, ok := domain.ParseID(*replacement)
	if !ok {
		return "", &HookError{errReplacement}
	}
	return id, nil
}

// transactInstead is transact after a hook, which may have named another session. The
// state that the caller expects is that of the session it knew, which the preflight
// has seen; a replacement only has to take the prompt.
func (s *Service) transactInstead(ctx context.Context, r Request, sessionID string) (Admitted, event.Notice, error) {
	if sessionID == r.SessionID {
		return s.transact(ctx, r, sessionID)
	}
	r.ExpectedState = nil
	a, n, err := s.transact(ctx, r, sessionID)
	if errors.Is(err, session.ErrNotFound) {
		err = &HookError{errReplacement}
	}
	return a, n, err
}
