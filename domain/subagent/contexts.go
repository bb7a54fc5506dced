package subagent

import (
	"context"
	"fmt"
	"math/big"
	"time"
	"unicode/utf8"

	"gatehouse/domain"
)

// ContextReader reads contexts. Package storetest holds what every store must do.
type ContextReader interface {
	// Contexts returns at most limit contexts of a filter in the order of
	// [ContextPosition], behind after when it is not nil.
	Contexts(ctx context.Context, f ContextFilter, after *ContextPosition, limit int) ([]Context, error)

	// ContextSummary adds up the contexts of a filter.
	ContextSummary(ctx context.Context, f ContextFilter) (ContextSummary, error)

	// ContextHealth reads the keys of the activation and, where there is a
	// CaptureSince, compares messages with contexts, all in one state of the
	// database. Each comparison is one statement (SC-41).
	ContextHealth(ctx context.Context) (Health, error)
}

// ContextFilter says whose contexts to read.
type ContextFilter struct {
	SessionID string
	TurnID    *string // only those of this turn, which may be gone; nil for all
}

// ContextPosition is a place in the order of contexts: by when they were observed, then
// by the bytes of call and execution (SC-11).
type ContextPosition struct {
	ObservedAt  time.Time
	ToolCallID  string
	ExecutionID string
}

// ContextSummary adds up contexts (SC-44).
type ContextSummary struct {
	Invocations int64
	Settled     int64
	TotalTokens Sum
	ToolUses    Sum
	DurationMS  Sum // milliseconds
}

// InFlight counts the contexts that have not settled.
func (s ContextSummary) InFlight() int64 { return s.Invocations - s.Settled }

// Sum is a metric added up over the contexts that reported it. The sum of nothing is
// nil, not 0. It may be greater than any one of the values can be.
type Sum struct {
	Total    *big.Int
	Reported int64
}

// Contexts is the set of operations that read contexts.
type Contexts struct {
	store    ContextReader
	observer HealthObserver // nil to tell nobody
}

// NewContexts returns the operations on store.
func NewContexts(store ContextReader) *Contexts { return &Contexts{store: store} }

// ObservedBy returns the same operations, of whose answers o is told.
func (s *Contexts) ObservedBy(o HealthObserver) *Contexts {
	observed := *s
	observed.observer = o
	return &observed
}

// List returns one page of contexts.
func (s *Contexts) List(ctx context.Context, f ContextFilter, r domain.PageRequest) (domain.Page[Context], error) {
	kind := "contexts/" + f.SessionID
	if f.TurnID != nil {
		kind += "/" + *f.TurnID
	}
	page, err := domain.ReadOrdered(r, kind, contextOrder, func(after *ContextPosition, limit int) ([]Context, error) {
		return s.store.Contexts(ctx, f, after, limit)
	})
	if err != nil {
		return domain.Page[Context]{}, fmt.Errorf("list contexts of session %s: %w", f.SessionID, err)
	}
	return page, nil
}

// contextOrder is the order of contexts in cursors.
var contextOrder = domain.Order[Context, ContextPosition]{
	Parts: func(last Context) []string {
		return []string{domain.FormatCursorTime(last.ObservedAt), last.ToolCallID, last.AgentExecutionID}
	},
	Parse: func(parts []string) (p ContextPosition, ok bool) {
		if len(parts) != 3 {
			return ContextPosition{}, false
		}
		at, isTime := domain.ParseCursorTime(parts[0])
		return ContextPosition{at, parts[1], parts[2]}, isTime && storableText(parts[1]) && storableText(parts[2])
	},
}

func storableText(text string) bool { return !domain.HasNUL(text) && utf8.ValidString(text) }

// Summary adds up contexts.
func (s *Contexts) Summary(ctx context.Context, f ContextFilter) (ContextSummary, error) {
	sum, err := s.store.ContextSummary(ctx, f)
	if err != nil {
		return ContextSummary{}, fmt.Errorf("add up contexts of session %s: %w", f.SessionID, err)
	}
	return sum, nil
}
