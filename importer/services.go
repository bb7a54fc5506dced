package importer

import (
	"context"

	"gatehouse/domain/history"
	"gatehouse/domain/session"
	"gatehouse/domain/subagent"
	"gatehouse/domain/task"
)

// Services is the domain that transcripts are loaded into. Tasks, sessions, executions
// and contexts take their times from Clock.
type Services struct {
	Tasks      Tasks
	Sessions   Sessions
	History    History
	Executions Executions
	Contexts   Contexts
	Clock      *Clock
}

// Tasks is what loading asks of tasks.
type Tasks interface {
	// Get returns [task.ErrNotFound] when there is none.
	Get(ctx context.Context, id string) (task.Task, error)
	Create(ctx context.Context, n task.New) (t task.Task, created bool, err error)
	Update(ctx context.Context, id string, p task.Patch) (task.Task, error)
}

// Sessions is what loading asks of sessions and turns.
type Sessions interface {
	// Get returns [session.ErrNotFound] when there is none.
	Get(ctx context.Context, id string) (session.Session, error)
	Create(ctx context.Context, n session.New) (s session.Session, created bool, err error)
	Update(ctx context.Context, taskID, id string, p session.Patch) (session.Session, error)
	RecordTurns(ctx context.Context, taskID, sessionID string, turns []session.RecordedTurn) (changed int, err error)
}

// History is what loading asks of transcripts.
type History interface {
	Complete(ctx context.Context, taskID, sessionID string, batch []history.NewMessage) (history.Completed, error)
	Messages(ctx context.Context, sessionID string, q history.PageQuery) (history.Page, error)
}

// Executions is what loading asks of the runs of subagents.
type Executions interface {
	Start(ctx context.Context, r subagent.ExecutionStart) (e subagent.Execution, created bool, err error)
	End(ctx context.Context, taskID, id string, status subagent.ExecutionStatus) (subagent.Execution, error)
	Extend(ctx context.Context, taskID, id string) (subagent.Execution, error)
}

// Contexts is what loading asks of the invocations of subagents. It cannot fail: see
// [subagent.Recorder].
type Contexts interface {
	Record(ctx context.Context, reports []subagent.Report)
}
