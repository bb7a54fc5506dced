// Package task keeps tasks, the units of work that a workspace owns, and which
// session of a task is its primary one.
package task

import (
	"context"
	"time"

	"gatehouse/domain"
	"gatehouse/domain/event"
)

// Task is a unit of work. What hangs on it changes only under its row lock.
type Task struct {
	ID                string `bun:",pk"`
	WorkspaceID       string
	Title             string // 1 to 500 bytes
	Description       string // at most 64 KiB
	Archived          bool
	PrimarySessionID  *string // the session that Run addresses
	CreateFingerprint string  // of the request that made it (API-8)
	ChangeSeq         int64   // of the last committed change below the task (EV-1)
	TaskSeq           int64   // the change that last touched the task or a session's state
	PlanSeq           int64   // … its plan
	CommentsSeq       int64   // … its pending comments
	CreatedAt         time.Time
	UpdatedAt         time.Time
}

// Failures of this package.
var (
	ErrNotFound = &domain.Error{Kind: domain.KindNotFound, Code: "task_not_found", Detail: "There is no such task."}
	ErrArchived = &domain.Error{Kind: domain.KindConflict, Code: "task_archived", Detail: "The task is archived; unarchive it to change it."}
	ErrConflict = &domain.Error{Kind: domain.KindConflict, Code: "task_conflict", Detail: "The id belongs to another task."}
)

// Locker is the first thing a transaction that changes something below a task
// does (PC-12).
type Locker interface {
	// LockTask returns a task and holds off every other LockTask of the same id
	// until the transaction ends. It is the first statement of a transaction. It
	// returns [ErrNotFound].
	LockTask(ctx context.Context, id string) (Task, error)
}

// Tx is what every operation below a task needs of its transaction.
type Tx interface {
	Locker
	event.Stamper
}

// RequireActive is [ErrArchived] for an archived task.
func (t Task) RequireActive() error {
	if t.Archived {
		return ErrArchived
	}
	return nil
}
