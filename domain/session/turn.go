package session

import "time"

// TurnState is where a turn stands. Every state but running is terminal.
type TurnState string

// The states of a turn.
const (
	TurnRunning   TurnState = "running"
	TurnCompleted TurnState = "completed"
	TurnFailed    TurnState = "failed"
	TurnCancelled TurnState = "cancelled"
)

// Turn is one stretch of an agent's work in a session.
type Turn struct {
	ID                 string `bun:",pk"`
	TaskID             string
	SessionID          string
	State              TurnState
	InterruptRequested bool   // a person wants the agent to stop and take something else (DL-8)
	CreateFingerprint  string // of the request that made it (API-8)
	StartedAt          time.Time
	EndedAt            *time.Time
}
