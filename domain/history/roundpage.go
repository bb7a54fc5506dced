package history

import (
	"context"
	"fmt"

	"gatehouse/domain"
	"gatehouse/domain/session"
)

// RoundState is whether a round is over.
type RoundState string

// The states of a round.
const (
	RoundRunning   RoundState = "running" // the last of a session that is starting or running
	RoundCompleted RoundState = "completed"
)

// RoundQuery asks for a page of rounds.
type RoundQuery struct {
	Limit  int    // 1 to [domain.MaxRounds]; 0 is [domain.DefaultRoundItems]
	Before *int64 // only messages with a smaller seq; any number
	Diffs  DiffsMode
}

// RoundPage is a page of rounds.
type RoundPage struct {
	Items      []RoundItem // never nil, ascending
	HasMore    bool
	NextBefore *int64 // the Before of the next older page; nil when there is none
}

// RoundItem is a round, or, of one that is longer than a page, a part of it: only the
// part with the first message has the user message.
type RoundItem struct {
	Round

	UserMessage  *session.Message
	Subagents    int // executions it delegated, running ones included
	State        RoundState
	LinesAdded   *int64         // nil when no change knows, or the round still runs
	LinesDeleted *int64         // likewise
	FileChanges  []MergedChange // never nil; empty while it runs
}

func (q RoundQuery) window() (Window, error) {
	w := Window{Before: q.Before, Rounds: q.Limit, Brief: true}
	if w.Rounds == 0 {
		w.Rounds = domain.DefaultRoundItems
	}
	var p domain.Problems
	checkRange(&p, "/query/limit", w.Rounds, domain.MaxRounds)
	q.Diffs.check(&p)
	return w, p.Err()
}

// Rounds returns a page of the rounds of a session, each with its file changes
// merged by path. It pages like [Service.Messages].
func (s *Service) Rounds(ctx context.Context, sessionID string, q RoundQuery) (RoundPage, error) {
	w, err := q.window()
	if err != nil {
		return RoundPage{}, err
	}
	var page RoundPage
	err = s.store.InRead(ctx, func(ctx context.Context, tx ReadTx) error {
		view, err := tx.Window(ctx, sessionID, w)
		if err != nil {
			return err
		}
		page = RoundPage{Items: view.rounds(), HasMore: view.More, NextBefore: view.nextBefore(w)}
		if len(page.Items) == 0 {
			return nil
		}
		return page.addChanges(ctx, tx, view, q.Diffs)
	})
	if err != nil {
		return RoundPage{}, fmt.Errorf("read rounds of session %s: %w", sessionID, err)
	}
	return page, nil
}

// rounds groups the messages of v, without their changes.
func (v View) rounds() []RoundItem {
	marks := make([]RoundMark, len(v.Messages))
	for i, m := range v.Messages {
		marks[i] = RoundMark{m.Seq, string(m.Role)}
	}
	rounds := Rounds(marks)
	items, at := make([]RoundItem, len(rounds)), 0
	for i, r := range rounds {
		items[i] = RoundItem{Round: r, State: RoundCompleted, FileChanges: []MergedChange{}}
		if r.UserSeq != nil {
			items[i].UserMessage = &v.Messages[at]
		}
		at += r.Messages
	}
	if n := len(items); n > 0 && !v.NewerRound && working(v.Session.State) {
		items[n-1].State = RoundRunning
	}
	return items
}

func working(s session.State) bool {
	return s == session.StateStarting || s == session.StateRunning
}

// addChanges adds to each round what it changed.
func (p *RoundPage) addChanges(ctx context.Context, tx ReadTx, v View, mode DiffsMode) error {
	work, err := tx.Work(ctx, v.Session.ID, p.Items[0].FirstSeq, p.Items[len(p.Items)-1].LastSeq, mode.small())
	if err != nil {
		return err
	}
	lists := attribute(v.Session, work)
	changes := make([][]SourcedChange, len(p.Items))
	var shown []*SourcedChange
	at := 0
	for i := range p.Items {
		item := &p.Items[i]
		item.Subagents = delegatedIn(work.Runs, item.Round)
		for range item.Messages {
			if item.State != RoundRunning {
				changes[i] = append(changes[i], lists[v.Messages[at].Seq]...)
			}
			at++
		}
		for _, g := range groupByPath(changes[i]) {
			shown = append(shown, g.texts()...)
		}
	}
	if err := fillTexts(ctx, tx, mode, shown); err != nil {
		return err
	}
	for i := range p.Items {
		p.Items[i].sumUp(changes[i])
	}
	return nil
}

// delegatedIn counts the runs that the session delegated in a round.
func delegatedIn(runs []Run, r Round) int {
	n := 0
	for _, run := range runs {
		if run.ParentID == run.ID && run.MessageSeq >= r.FirstSeq && run.MessageSeq <= r.LastSeq {
			n++
		}
	}
	return n
}

// sumUp merges the changes of a round. A round that changed nothing changed no line;
// of one that still runs nothing is known.
func (r *RoundItem) sumUp(changes []SourcedChange) {
	if r.State == RoundRunning {
		return
	}
	if len(changes) == 0 {
		r.LinesAdded, r.LinesDeleted = new(int64(0)), new(int64(0))
		return
	}
	r.FileChanges = Merge(changes)
	for _, m := range r.FileChanges {
		r.LinesAdded = addLines(r.LinesAdded, m.LinesAdded)
		r.LinesDeleted = addLines(r.LinesDeleted, m.LinesDeleted)
	}
}
