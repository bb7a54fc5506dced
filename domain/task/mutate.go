package task

import (
	"context"

	"gatehouse/domain/event"
)

// InTx is how a store runs a transaction about one task.
type InTx[T Tx] func(ctx context.Context, taskID string, fn func(ctx context.Context, tx T) error) error

// Mutate is how everything that hangs on a task is changed: decide runs in a
// transaction that holds the row lock of the task (PC-12), and the change it
// returns is stamped (EV-1) and, after the commit, told (PC-10). With a nil change
// nothing was written that anybody is shown, so nothing is stamped or told.
//
// decide may run again: it changes nothing but its result, and sets that from the
// start each time. A task that does not exist is [ErrNotFound].
func Mutate[T Tx](
	ctx context.Context, inTx InTx[T], announce *event.Announcer, taskID string,
	decide func(ctx context.Context, tx T, t Task) (*event.Change, error),
) error {
	notice, err := Stamped(ctx, inTx, taskID, decide)
	if err == nil && notice != nil {
		announce.Announce(ctx, *notice)
	}
	return err
}

// Stamped is [Mutate] up to the commit. It returns the news for its caller to tell,
// nil for none.
func Stamped[T Tx](
	ctx context.Context, inTx InTx[T], taskID string,
	decide func(ctx context.Context, tx T, t Task) (*event.Change, error),
) (*event.Notice, error) {
	var notice *event.Notice
	err := inTx(ctx, taskID, func(ctx context.Context, tx T) error {
		notice = nil
		t, err := tx.LockTask(ctx, taskID)
		if err != nil {
			return err
		}
		change, err := decide(ctx, tx, t)
		if err != nil || change == nil {
			return err
		}
		seq, err := tx.Stamp(ctx, taskID, *change)
		notice = &event.Notice{TaskID: taskID, Seq: seq, Change: *change}
		return err
	})
	if err != nil {
		return nil, err
	}
	return notice, nil
}
