// Package event says what of a task a committed change touched, and hands the
// news on after the commit.
//
// Every transaction that changes something below a task takes the next number of
// the task's change_seq, under the task row lock, and stamps with it the topics it
// touched (EV-1). The stamps are columns of the rows themselves: of the task
// (task_seq, plan_seq, comments_seq) and of its sessions (queue_seq, messages_seq,
// executions_seq, interrupt_seq). A consumer that knows the last number it saw reads exactly the
// topics with a greater stamp, after any time and any restart.
package event

import "context"

// Change names the topics of one task that one transaction touched.
type Change struct {
	Task     bool // the task, its primary session, or a state of a session
	Plan     bool
	Comments bool
	Sessions []SessionChange // at most one per session, in the order of their ids
}

// SessionChange names the topics of one session that one transaction touched.
type SessionChange struct {
	SessionID  string
	Queue      bool
	Messages   bool
	Executions bool
	Interrupt  bool // its turns are asked to stop (DL-8)
}

// Notice is the news of a committed change. It carries no content: who wants to
// know reads it, together with its stamp, from one snapshot.
type Notice struct {
	TaskID string
	Seq    int64 // the task's change number, from 1
	Change Change
}

// Publisher takes notices after their commit, never before and never for a
// failed change (EV-2). An error changes nothing of what was committed.
type Publisher interface {
	Publish(ctx context.Context, n Notice) error
}

// Stamper is the part of a transaction that numbers a change (EV-1).
type Stamper interface {
	// Stamp gives a task its next change number and stamps the topics of c. The
	// transaction holds the task row lock and calls it once.
	Stamp(ctx context.Context, taskID string, c Change) (seq int64, err error)
}
