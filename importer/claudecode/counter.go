package claudecode

import "context"

// counter is a sink that counts what another is told.
type counter struct {
	Sink

	summary *Summary
}

// Task counts a task.
func (c counter) Task(ctx context.Context, t Task) error {
	c.summary.Tasks++
	return c.Sink.Task(ctx, t)
}

// Session counts a session.
func (c counter) Session(ctx context.Context, s Session) error {
	c.summary.Sessions++
	if s.Kind == KindSubagent {
		c.summary.Subagents++
	}
	return c.Sink.Session(ctx, s)
}

// Message counts a message and its file changes.
func (c counter) Message(ctx context.Context, m Message) error {
	c.summary.Messages++
	c.summary.FileChanges += len(m.FileChanges)
	return c.Sink.Message(ctx, m)
}

// ExecutionStart counts a run of a subagent.
func (c counter) ExecutionStart(ctx context.Context, e ExecutionStart) error {
	c.summary.Executions++
	return c.Sink.ExecutionStart(ctx, e)
}
