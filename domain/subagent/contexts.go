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
	page, err := s.page(ctx, f, r, kind)
	if err != nil {
		return domain.Page[Context]{}, fmt.Errorf("list contexts of session %s: %w", f.SessionID, err)
	}
	return page, nil
}

func (s *Contexts) page(ctx context.Context, f ContextFilter, r domain.PageRequest, kind string) (domain.Page[Context], error) {
	size, err := r.Size()
	if err != nil {
		return domain.Page[Context]{}, err
	}
	after, err := parseContextPosition(kind, r.Cursor)
	if err != nil {
		return domain.Page[Context]{}, err
	}
	found, err := s.store.Contexts(ctx, f, after, size+1)
	if err != nil {
		return domain.Page[Context]{}, err
	}
	return domain.NewPage(found, size, func(last Context) string {
		return domain.EncodeCursor(kind, last.ObservedAt.UTC().Format(time.RFC3339Nano), last.ToolCallID, last.AgentExecutionID)
	}), nil
}

// parseContextPosition reads a cursor, which anybody can make up: what it lets through,
// every database can compare with.
func parseContextPosition(kind, cursor string) (*ContextPosition, error) {
	if cursor == "" {
		return nil, nil
	}
	parts, err := domain.DecodeCursor(kind, cursor)
	if err != nil {
		return nil, err
	}
	if len(parts) != 3 {
		return nil, domain.InvalidCursor()
	}
	at, err := time.Parse(time.RFC3339Nano, parts[0])
	if err != nil || !domain.Storable(at) {
		return nil, domain.InvalidCursor()
	}
	for _, id := range parts[1:] {
		if domain.HasNUL(id) || !utf8.ValidString(id) {
			return nil, domain.InvalidCursor()
		}
	}
	return &ContextPosition{at.UTC(), parts[1], parts[2]}, nil
}

// Summary adds up contexts.
func (s *Contexts) Summary(ctx context.Context, f ContextFilter) (ContextSummary, error) {
	sum, err := s.store.ContextSummary(ctx, f)
	if err != nil {
		return ContextSummary{}, fmt.Errorf("add up contexts of session %s: %w", f.SessionID, err)
	}
	return sum, nil
}
