package importer

import (
	"context"

	"gatehouse/domain/history"
	"gatehouse/domain/subagent"
	"gatehouse/importer/claudecode"
)

// start starts a run. Where the domain refuses it, as it does when it refused the
// message with the call, that is named by the place of the call; the messages of the
// run go in without it, unless their session was refused.
func (w *writer) start(ctx context.Context, e claudecode.ExecutionStart) error {
	w.Clock.set(e.At)
	child := w.sessions[e.ChildSessionID]
	child.over, child.behind, child.late, child.lost = false, "", false, false
	w.invocations.launched(w.task.ID, e)
	if child.gone != "" {
		w.refuse(e.Place, child.gone)
		child.lost = true
		return nil
	}
	run, created, err := w.Executions.Start(ctx, subagent.ExecutionStart{
		ID: e.ID, TaskID: w.task.ID, ParentSessionID: e.ParentSessionID, ParentToolCallID: e.ParentToolCall,
		ParentMessageID: &e.ParentMessageID, ChildSessionID: e.ChildSessionID, Tool: e.Tool,
	})
	if reason, refused := refusal(err); refused {
		w.refuse(e.Place, reason)
		child.lost = true
		return nil
	}
	if err != nil {
		return err
	}
	if created {
		w.grew(e.ParentSessionID)
		w.added.Executions++
	}
	child.over = run.Status != subagent.ExecutionRunning
	if child.over && run.EndMessageSeq != nil && *run.EndMessageSeq < child.last {
		child.behind, err = w.behind(ctx, run)
	}
	return err
}

// behind is the first message behind the end of a run. When the run tells it, a load
// was cut short before the run took it in.
func (w *writer) behind(ctx context.Context, run subagent.Execution) (string, error) {
	page, err := w.History.Messages(ctx, run.ChildSessionID, history.PageQuery{After: run.EndMessageSeq, Limit: new(1)})
	if err != nil || len(page.Messages) == 0 {
		return "", err
	}
	return page.Messages[0].ID, nil
}

// end ends a run. One that an earlier load ended takes in what the child said in it
// and that load did not find, or did not come to take in.
func (w *writer) end(ctx context.Context, e claudecode.ExecutionEnd) error {
	w.Clock.set(e.At)
	w.record(ctx, w.invocations.ended(e))
	child := w.sessions[e.ChildSessionID]
	if child.lost {
		return nil
	}
	_, err := w.Executions.End(ctx, w.task.ID, e.ID, subagent.ExecutionStatus(e.Status))
	if err != nil {
		return err
	}
	if child.over && child.late {
		_, err = w.Executions.Extend(ctx, w.task.ID, e.ID)
	}
	return err
}
