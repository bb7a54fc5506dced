package prompt

import (
	"fmt"

	"gatehouse/domain"
)

// Failures of the queue.
var (
	ErrQueueFull        = &domain.Error{Kind: domain.KindConflict, Code: "queue_full", Detail: "The session is owed as much as it may be; wait, or remove an entry."}
	ErrQueueChanged     = &domain.Error{Kind: domain.KindConflict, Code: "queue_changed", Detail: "The queue is not what the request assumes; queue has it as it is."}
	ErrQueueEmpty       = &domain.Error{Kind: domain.KindConflict, Code: "queue_empty", Detail: "Nothing is pending."}
	ErrEntryNotFound    = &domain.Error{Kind: domain.KindNotFound, Code: "entry_not_found", Detail: "There is no such entry in the queue."}
	ErrEntryReserved    = &domain.Error{Kind: domain.KindConflict, Code: "entry_reserved", Detail: "A runner has the entry already, or had it."}
	ErrEntryNotEditable = &domain.Error{Kind: domain.KindConflict, Code: "entry_not_editable", Detail: "Only queued prompts that stand alone can be changed."}
)

// QueueFullError is [ErrQueueFull] with the sizes (AD-5).
type QueueFullError struct {
	Size    int64 // deliveries the session is owed
	Maximum int64 // that it may be owed
}

// Error implements error.
func (e *QueueFullError) Error() string {
	return fmt.Sprintf("%s: %d of at most %d", ErrQueueFull.Code, e.Size, e.Maximum)
}

// Unwrap makes it match the sentinel.
func (e *QueueFullError) Unwrap() error { return ErrQueueFull }

// QueueChangedError is [ErrQueueChanged] with the queue as it is.
type QueueChangedError struct{ Queue Queue }

// Error implements error.
func (e *QueueChangedError) Error() string { return ErrQueueChanged.Error() }

// Unwrap makes it match the sentinel.
func (e *QueueChangedError) Unwrap() error { return ErrQueueChanged }

// checkCapacity is a [QueueFullError] when a session that is owed size deliveries may
// not be owed another one.
func checkCapacity(size, maximum int64) error {
	if size >= maximum {
		return &QueueFullError{size, maximum}
	}
	return nil
}
