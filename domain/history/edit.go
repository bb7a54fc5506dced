package history

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"

	"gatehouse/domain"
	"gatehouse/domain/event"
	"gatehouse/domain/session"
	"gatehouse/domain/task"
)

// Edit changes a message. What is not set stays as it is (API-5).
type Edit struct {
	Content     *string         // at most 4 MiB
	SetThinking bool            // whether Thinking is meant
	Thinking    *string         // at most 4 MiB; nil removes it
	Metadata    json.RawMessage // replaces the caller's own members; nil keeps them
}

// EditMessage changes a message and answers it as it is then. Members of metadata
// that the service owns stay (API-24). A message that was rolled back is
// [session.ErrMessageNotFound]. An edit that changes nothing writes nothing. What a
// replay is told by stays the original request (HI-9).
func (s *Service) EditMessage(ctx context.Context, taskID, id string, e Edit) (session.Message, error) {
	metadata, err := e.check()
	if err != nil {
		return session.Message{}, err
	}
	var m session.Message
	err = s.mutate(ctx, taskID, func(ctx context.Context, tx WriteTx, _ task.Task) (*event.Change, error) {
		prior, err := tx.Message(ctx, id)
		if err == nil && (prior.TaskID != taskID || prior.DeletedAt != nil) {
			err = session.ErrMessageNotFound
		}
		if err != nil {
			return nil, err
		}
		if _, err := tx.LockSession(ctx, taskID, prior.SessionID); err != nil {
			return nil, err
		}
		changed, err := e.apply(prior, metadata)
		if m = changed; err != nil || same(prior, changed) {
			return nil, err
		}
		m.UpdatedAt = s.now()
		if err := tx.UpdateMessages(ctx, []session.Message{m}); err != nil {
			return nil, err
		}
		return &event.Change{Sessions: []event.SessionChange{{SessionID: m.SessionID, Messages: true}}}, nil
	})
	if err != nil {
		return session.Message{}, fmt.Errorf("edit message %s: %w", id, err)
	}
	return m, nil
}

// check judges e on its own and returns its metadata in canonical form, nil for none.
func (e Edit) check() ([]byte, error) {
	var p domain.Problems
	if e.Content != nil {
		checkOutput(&p, "/body/content", *e.Content)
	}
	if e.Thinking != nil {
		checkOutput(&p, "/body/thinking", *e.Thinking)
	}
	var metadata []byte
	if len(e.Metadata) > 0 {
		metadata = domain.CheckMetadata(&p, "/body/metadata", e.Metadata)
	}
	return metadata, p.Err()
}

// apply returns m with e.
func (e Edit) apply(m session.Message, metadata []byte) (session.Message, error) {
	keep := func(text string) string {
		clean, replaced := domain.ReplaceNUL(text)
		m.Sanitized = m.Sanitized || replaced
		return clean
	}
	if e.Content != nil {
		m.Content = keep(*e.Content)
	}
	if e.SetThinking {
		m.Thinking = nil
		if e.Thinking != nil {
			m.Thinking = new(keep(*e.Thinking))
		}
	}
	if metadata == nil {
		return m, nil
	}
	owned, err := ownedMembers(m.Metadata)
	if err != nil {
		return m, fmt.Errorf("stored metadata: %w", err)
	}
	m.Metadata = withOwned(metadata, owned)
	return m, nil
}

// ownedMembers returns what of metadata the service set.
func ownedMembers(metadata json.RawMessage) (map[string]json.RawMessage, error) {
	members := map[string]json.RawMessage{}
	if err := json.Unmarshal(metadata, &members); err != nil {
		return nil, err
	}
	for name := range members {
		if !slices.Contains(domain.ReservedMetadata, name) {
			delete(members, name)
		}
	}
	return members, nil
}

// same reports whether an edit changed nothing. Metadata is compared by its
// canonical form: a database may keep another.
func same(a, b session.Message) bool {
	before, errBefore := domain.CanonicalJSON(a.Metadata)
	after, errAfter := domain.CanonicalJSON(b.Metadata)
	return errBefore == nil && errAfter == nil && string(before) == string(after) &&
		a.Content == b.Content && a.Sanitized == b.Sanitized &&
		(a.Thinking == nil) == (b.Thinking == nil) && value(a.Thinking) == value(b.Thinking)
}
