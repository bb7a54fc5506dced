package subagent

import (
	"time"

	"gatehouse/domain"
)

// ExecutionStatus is where an execution stands. Every status but running is final.
type ExecutionStatus string

// The statuses of an execution.
const (
	ExecutionRunning   ExecutionStatus = "running"
	ExecutionCompleted ExecutionStatus = "completed"
	ExecutionFailed    ExecutionStatus = "failed"
	ExecutionCancelled ExecutionStatus = "cancelled"
)

// Execution is one run of a subagent session: a delegation or a follow-up. What
// the child says in it has a seq behind StartMessageSeq and up to EndMessageSeq,
// and belongs to the message of the parent that it is bound to. Neither is ever
// worked out from times.
type Execution struct {
	ID                string `bun:",pk"`
	TaskID            string
	ParentSessionID   string
	ParentToolCallID  *string // of the call that delegated; nil for a legacy one (HI-5)
	ParentMessageID   *string // the message it is bound to; nil while it waits for one (HI-6)
	ParentMessageSeq  *int64  // of that message: it outlives the message
	ParentCallOrdinal *int    // of the call in that message; nil when it issues no such call
	ChildSessionID    string
	Run               int     // which run of its child it is, from 1
	AgentType         *string // at most 500 bytes; the child's when the start said none
	Tool              string  // the delegation tool, 1 to 500 bytes
	Status            ExecutionStatus
	StartMessageSeq   *int64 // the child's last seq before this run; nil for a legacy one (HI-1, HI-5)
	EndMessageSeq     *int64 // the child's last seq at its end; nil while it runs, or after a crash (HI-2)
	CreateFingerprint string // of the request that started it (API-8)
	StartedAt         time.Time
	EndedAt           *time.Time // nil while it runs
	UpdatedAt         time.Time
}

// Failures of executions.
var (
	ErrExecutionNotFound = &domain.Error{Kind: domain.KindNotFound, Code: "execution_not_found", Detail: "There is no such subagent execution."}
	ErrExecutionConflict = &domain.Error{Kind: domain.KindConflict, Code: "execution_conflict", Detail: "The id belongs to another subagent execution."}
	ErrExecutionRunning  = &domain.Error{Kind: domain.KindConflict, Code: "execution_running", Detail: "The subagent session is in a run already; end it first."}
)

// end returns e ended in a terminal status at lastSeq, the child's last seq or nil
// when the child is gone. An execution that has ended is answered as it is (HI-2).
func (e Execution) end(status ExecutionStatus, lastSeq *int64, now time.Time) (ended Execution, changed bool) {
	if e.Status != ExecutionRunning {
		return e, false
	}
	e.Status, e.EndMessageSeq, e.EndedAt, e.UpdatedAt = status, lastSeq, &now, now
	return e, true
}

// bind returns e attached to the message of d, for good (HI-6).
func (e Execution) bind(d Delegation, now time.Time) Execution {
	e.ParentMessageID, e.ParentMessageSeq, e.ParentCallOrdinal = &d.MessageID, &d.MessageSeq, d.Ordinal
	e.UpdatedAt = now
	return e
}
