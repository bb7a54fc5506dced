package feed

import (
	"gatehouse/domain/plan"
	"gatehouse/domain/session"
	"gatehouse/domain/subagent"
	"gatehouse/domain/task"
)

// Name says what an event is about.
type Name string

// The events. Every one but the last is the complete snapshot of a topic.
const (
	NameTask      Name = "task.changed"
	NamePlan      Name = "task.plan.changed"
	NameComments  Name = "task.plan.comments.changed"
	NameQueue     Name = "session.queue.changed"
	NameMessages  Name = "session.messages.changed"
	NameInterrupt Name = "session.interrupt"
	NameExecution Name = "subagent.execution.changed"
	NameReady     Name = "ready"
)

// Names lists the events.
var Names = []Name{
	NameTask, NamePlan, NameComments, NameQueue, NameMessages, NameInterrupt, NameExecution, NameReady,
}

// Event is one thing to tell. It is shared between streams and never changed.
type Event struct {
	// Seq is the change that last touched what the event shows: its stamp (EV-1). That
	// of [Ready] is the number up to which everything was told.
	Seq int64

	// Last reports whether it is the last event of its Seq. A follower that has it has
	// everything up to Seq, and may come back with that number; SSE sends it as the id.
	Last bool

	Payload Payload

	// Data is the payload as [Config.Encode] made it, once for all streams.
	Data []byte
}

// Name is the name of the payload.
func (e Event) Name() Name { return e.Payload.Name() }

// Payload is what an event shows: one of the types of this package that have a Name.
type Payload interface{ Name() Name }

// Task is the task and all its sessions, oldest first. Of the sessions and the task it
// shows what changes with this topic alone: numbers of other topics are as they were
// when it was read.
type Task struct {
	Task     task.Task
	Sessions []session.Session
}

// Plan is the current plan of a task, without its content. Of a task that has none,
// PlanID is "" and Version 0.
type Plan struct {
	TaskID  string
	PlanID  string
	Version int64 // from 1
}

// Comments is the complete state of the pending comments of a task. Of a task that has
// no plan, the plan id is "" and there are none.
type Comments struct{ plan.Snapshot }

// Messages says how far the transcript of a session goes.
type Messages struct {
	TaskID    string
	SessionID string
	LastSeq   int64 // of the last message, deleted ones included; 0 when there is none
}

// Interrupt says that a person asks the agent to stop a turn, which runs (DL-8).
type Interrupt struct {
	TaskID    string
	SessionID string
	TurnID    string
}

// Execution is one run of a subagent.
type Execution struct {
	subagent.Execution

	Seq int64 // the change that last touched it
}

// Ready says that everything that was owed when the stream began has been told.
type Ready struct{ TaskID string }

// Name implements Payload.
func (Task) Name() Name { return NameTask }

// Name implements Payload.
func (Plan) Name() Name { return NamePlan }

// Name implements Payload.
func (Comments) Name() Name { return NameComments }

// Name implements Payload.
func (Messages) Name() Name { return NameMessages }

// Name implements Payload.
func (Interrupt) Name() Name { return NameInterrupt }

// Name implements Payload.
func (Execution) Name() Name { return NameExecution }

// Name implements Payload.
func (Ready) Name() Name { return NameReady }
