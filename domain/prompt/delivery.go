package prompt

import (
	"encoding/json"
	"slices"
	"time"

	"gatehouse/domain"
	"gatehouse/domain/plan"
	"gatehouse/domain/session"
)

// Kind says how a delivery came to be. The first two are the transports.
type Kind string

// The kinds of delivery.
const (
	KindDirect   Kind = "direct"   // a prompt to a session that can take it at once
	KindQueued   Kind = "queued"   // a prompt that waits for its turn
	KindCombined Kind = "combined" // several pending ones, sent as one (DL-8)
)

// State is where a delivery stands.
type State string

// The states of a delivery. Package prompt describes how they follow each other.
const (
	StatePending        State = "pending"
	StateReserved       State = "reserved"
	StateAttempted      State = "attempted"
	StateAcknowledged   State = "acknowledged"
	StateOutcomeUnknown State = "outcome_unknown"
	StateCancelled      State = "cancelled"
	StateDiscarded      State = "discarded"
	StateCombined       State = "combined"
	StateRequeued       State = "requeued"
)

// transitions is the state table. From a state with nothing behind it none leads on.
var transitions = map[State][]State{
	StatePending:        {StateReserved, StateCancelled, StateDiscarded, StateCombined, StateOutcomeUnknown},
	StateReserved:       {StateAttempted, StatePending, StateDiscarded, StateOutcomeUnknown},
	StateAttempted:      {StateAcknowledged, StateOutcomeUnknown},
	StateOutcomeUnknown: {StateAcknowledged, StateRequeued},
	StateCombined:       {StateAttempted, StateAcknowledged, StateOutcomeUnknown, StateDiscarded, StatePending},
	StateAcknowledged:   nil,
	StateCancelled:      nil,
	StateDiscarded:      nil,
	StateRequeued:       nil,
}

// CanBecome reports whether next may follow s.
func (s State) CanBecome(next State) bool { return slices.Contains(transitions[s], next) }

// Unfinished reports whether a delivery in s is still owed: the queue lists it,
// capacity counts it, and a direct prompt waits for it.
func (s State) Unfinished() bool {
	return slices.Contains([]State{StatePending, StateReserved, StateCombined}, s)
}

// Outcome is what a runner says became of an attempt.
type Outcome string

// The outcomes of an attempt.
const (
	OutcomeSucceeded Outcome = "succeeded" // the agent has the prompt
	OutcomeFailed    Outcome = "failed"    // it has not, for certain
	OutcomeUnknown   Outcome = "unknown"   // nobody can tell
)

// Delivery is the durable receipt that a prompt is owed to an agent. It outlives
// its session and goes only with its task (AD-7).
type Delivery struct {
	ID               string `bun:",pk"`
	TaskID           string
	SessionID        string // the session that really got it
	IncarnationID    string // of the session, at admission
	Kind             Kind
	ClientID         *string // the caller's id; nil for what the service made
	State            State
	Position         int64  // order within the session (DL-13); reordering exchanges it (DL-7), send now goes below 1 (DL-8)
	Content          string // the canonical prompt, see [Render]
	PlanMode         bool
	Model            *string
	Attachments      []Attached      `bun:"type:jsonb"` // in the order they were named (AD-10)
	PlanCommentRefs  []plan.Ref      `bun:"type:jsonb"` // the comments it consumed, as they were named
	Metadata         json.RawMessage `bun:"type:jsonb"` // the caller's and the service's (AD-11)
	MessageID        *string         // its row in the transcript, once there is one
	TurnID           *string         // the turn that its attempt started
	CombinedInto     *string         // the combination it is a source of, see [Service.SendNow]
	RequeuedFrom     *string         // the delivery it was made from, see [Service.Resolve]
	RequeuedAs       *string         // the delivery that was made from it
	Version          int64           // from 1, +1 per edit (DL-5)
	TokenHash        *string         // of the reservation, from reserve on; see [Token]
	LeaseExpiresAt   *time.Time      // while reserved, by the database's clock
	Outcome          *Outcome        // what was acknowledged
	Detail           *string         // what the runner added, at most 64 KiB
	PendingAt        time.Time       // when it last entered each state
	ReservedAt       *time.Time
	AttemptedAt      *time.Time
	AcknowledgedAt   *time.Time
	OutcomeUnknownAt *time.Time
	CombinedAt       *time.Time
	RequeuedAt       *time.Time
	CancelledAt      *time.Time
	DiscardedAt      *time.Time
	CreatedAt        time.Time
	UpdatedAt        time.Time
}

// newDelivery is a pending delivery to s at a position, made at now, that has nothing
// to send yet.
func newDelivery(s session.Session, kind Kind, position int64, now time.Time) Delivery {
	return Delivery{
		ID:              domain.NewID(),
		TaskID:          s.TaskID,
		SessionID:       s.ID,
		IncarnationID:   s.IncarnationID,
		Kind:            kind,
		State:           StatePending,
		Position:        position,
		Attachments:     []Attached{},
		PlanCommentRefs: []plan.Ref{},
		Version:         1,
		PendingAt:       now,
		CreatedAt:       now,
		UpdatedAt:       now,
	}
}

// become moves d to its next state at now and notes the time. A state that may not
// follow is a defect of the caller, who has judged the request before.
func (d *Delivery) become(next State, now time.Time) {
	if !d.State.CanBecome(next) {
		panic("delivery may not go from " + string(d.State) + " to " + string(next))
	}
	d.State, d.UpdatedAt = next, now
	switch next {
	case StatePending:
		d.PendingAt = now
	case StateReserved:
		d.ReservedAt = &now
	case StateAttempted:
		d.AttemptedAt = &now
	case StateAcknowledged:
		d.AcknowledgedAt = &now
	case StateOutcomeUnknown:
		d.OutcomeUnknownAt = &now
	case StateCombined:
		d.CombinedAt = &now
	case StateRequeued:
		d.RequeuedAt = &now
	case StateCancelled:
		d.CancelledAt = &now
	case StateDiscarded:
		d.DiscardedAt = &now
	}
	if next != StateReserved {
		d.LeaseExpiresAt = nil
	}
}

// sameText reports whether two texts that may be missing are equal.
func sameText(a, b *string) bool { return a == b || a != nil && b != nil && *a == *b }
