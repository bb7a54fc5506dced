package history

import (
	"context"
	"fmt"
	"math"

	"gatehouse/domain"
	"gatehouse/domain/session"
)

// PageQuery asks for a page of the history of a session. The zero query asks for the
// newest rounds.
type PageQuery struct {
	Rounds *int   // 1 to [domain.MaxRounds], default [domain.DefaultRounds]; not with Limit
	Limit  *int   // messages, 1 to [domain.MaxListItems]
	Before *int64 // only what has a smaller seq; any number; not with After
	After  *int64 // only what has a greater seq; any number
	Diffs  DiffsMode
}

// Page is a page of the history of a session.
type Page struct {
	SessionID  string
	Messages   []PageMessage // never nil; see [PageOrder]
	HasMore    bool          // whether there is more in the direction of the page
	NextBefore *int64        // the Before of the next older page; nil when there is none
	LastSeq    int64         // of the session, deleted messages included
}

// PageMessage is a message with the file changes it led to.
type PageMessage struct {
	session.Message

	Calls       []session.ToolCall // never nil
	FileChanges []SourcedChange    // never nil
}

// window is the window that q asks for, or what is wrong with q.
func (q PageQuery) window() (Window, error) {
	w := Window{Before: q.Before, After: q.After}
	var p domain.Problems
	if q.Before != nil && q.After != nil {
		p.Add("/query/after", domain.ProblemConflict, "must not stand beside before")
	}
	switch {
	case q.Rounds != nil && q.Limit != nil:
		p.Add("/query/limit", domain.ProblemConflict, "must not stand beside rounds")
	case q.Limit != nil:
		w.Limit = *q.Limit
		checkRange(&p, "/query/limit", w.Limit, domain.MaxListItems)
	case q.Rounds != nil:
		w.Rounds = *q.Rounds
		checkRange(&p, "/query/rounds", w.Rounds, domain.MaxRounds)
	default:
		w.Rounds = domain.DefaultRounds
	}
	q.Diffs.check(&p)
	return w, p.Err()
}

func checkRange(p *domain.Problems, field string, n, most int) {
	if n < 1 || n > most {
		p.Add(field, domain.ProblemRange, "must be between 1 and %d", most)
	}
}

// Messages returns a page of the history of a session: its messages, each with the
// file changes it led to. Reading writes nothing, and sees one state of the store
// (HI-25).
//
// A page of rounds holds at most [domain.MaxPageMessages] messages. What a longer
// round has beyond that is on the next page in the same direction, as if a round
// began there: older messages when paging back, newer ones when paging on. So is what
// lies behind [domain.MaxPageText] bytes of text, of a page of messages too (HI-24).
func (s *Service) Messages(ctx context.Context, sessionID string, q PageQuery) (Page, error) {
	w, err := q.window()
	if err != nil {
		return Page{}, err
	}
	var page Page
	err = s.store.InRead(ctx, func(ctx context.Context, tx ReadTx) error {
		view, err := tx.Window(ctx, sessionID, w)
		if err != nil {
			return err
		}
		page = Page{
			SessionID: sessionID, HasMore: view.More, NextBefore: view.nextBefore(w),
			LastSeq: view.Session.LastMessageSeq,
		}
		if page.Messages, err = pageMessages(view.Messages); err != nil || len(view.Messages) == 0 {
			return err
		}
		return page.addChanges(ctx, tx, view, q.Diffs)
	})
	if err != nil {
		return Page{}, fmt.Errorf("read session %s: %w", sessionID, err)
	}
	return page, nil
}

// nextBefore is the cursor of the messages before w.
func (v View) nextBefore(w Window) *int64 {
	switch {
	case !v.Older:
		return nil
	case len(v.Messages) > 0:
		return &v.Messages[0].Seq
	case w.After != nil && *w.After < math.MaxInt64:
		return new(*w.After + 1)
	}
	return w.After
}

// pageMessages puts messages in the order of a page, without their changes.
func pageMessages(messages []session.Message) ([]PageMessage, error) {
	page := make([]PageMessage, len(messages))
	for i, m := range messages {
		calls, err := m.Calls()
		if err != nil {
			return nil, err
		}
		page[i] = PageMessage{m, calls, []SourcedChange{}}
	}
	return PageOrder(page, MessageReader[PageMessage]{
		Seq:        func(m PageMessage) int64 { return m.Seq },
		Role:       func(m PageMessage) string { return string(m.Role) },
		ToolCalls:  func(m PageMessage) []string { return callIDs(m.Calls) },
		ToolCallID: func(m PageMessage) string { return value(m.ToolCallID) },
	}), nil
}

func callIDs(calls []session.ToolCall) []string {
	ids := make([]string, len(calls))
	for i, c := range calls {
		ids[i] = c.ID
	}
	return ids
}

// addChanges adds to each message the changes it led to.
func (p *Page) addChanges(ctx context.Context, tx ReadTx, v View, mode DiffsMode) error {
	work, err := tx.Work(ctx, p.SessionID, v.Messages[0].Seq, v.Messages[len(v.Messages)-1].Seq, mode.small())
	if err != nil {
		return err
	}
	lists := attribute(v.Session, work)
	var shown []*SourcedChange
	for i := range p.Messages {
		if list := lists[p.Messages[i].Seq]; list != nil {
			p.Messages[i].FileChanges = list
			shown = pointers(shown, list)
		}
	}
	return fillTexts(ctx, tx, mode, shown)
}
