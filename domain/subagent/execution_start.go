package subagent

import (
	"context"
	"errors"
	"fmt"

	"gatehouse/domain"
	"gatehouse/domain/event"
	"gatehouse/domain/session"
	"gatehouse/domain/task"
)

// ExecutionStart asks for an execution.
type ExecutionStart struct {
	ID               string // the caller's, or "" for one of ours
	TaskID           string
	ParentSessionID  string
	ParentToolCallID string  // 1 to 512 bytes
	ParentMessageID  *string // of the parent session; nil to have it found (HI-6)
	ChildSessionID   string  // a subagent session whose parent is ParentSessionID
	AgentType        *string // at most 500 bytes
	Tool             string  // 1 to 500 bytes
}

func (r ExecutionStart) validate() error {
	var p domain.Problems
	if r.ParentToolCallID == "" {
		p.Add("/body/parent_tool_call_id", domain.ProblemBlank, "must not be empty")
	}
	domain.CheckText(&p, "/body/parent_tool_call_id", r.ParentToolCallID, domain.MaxOpaqueID)
	if r.Tool == "" {
		p.Add("/body/tool", domain.ProblemBlank, "must not be empty")
	}
	domain.CheckText(&p, "/body/tool", r.Tool, domain.MaxShortText)
	if r.AgentType != nil {
		domain.CheckText(&p, "/body/agent_type", *r.AgentType, domain.MaxShortText)
	}
	return p.Err()
}

// Start records that a run of a child begins, before its prompt is stored (HI-1),
// and binds it to the message that delegated it (HI-6). A child that runs already is
// [ErrExecutionRunning] (HI-10); a child or message that is none of the parent
// session's does not exist (API-23). A caller's id that exists is judged as API-8
// says. It works on archived tasks and ended sessions too: a record of an agent is
// not lost for being late.
func (s *Executions) Start(ctx context.Context, r ExecutionStart) (e Execution, created bool, err error) {
	if err := r.validate(); err != nil {
		return Execution{}, false, err
	}
	fresh := s.fresh(r)
	err = s.mutate(ctx, r.TaskID, func(ctx context.Context, tx ExecutionTx, _ task.Task) (*event.Change, error) {
		e, created = fresh, false
		switch prior, err := tx.Execution(ctx, fresh.ID); {
		case err == nil && prior.CreateFingerprint == fresh.CreateFingerprint:
			e = prior
			return nil, nil
		case err == nil:
			return nil, ErrExecutionConflict
		case !errors.Is(err, ErrExecutionNotFound):
			return nil, err
		}
		if e, err = place(ctx, tx, fresh); err != nil {
			return nil, err
		}
		if e, err = attach(ctx, tx, e, r.ParentMessageID); err != nil {
			return nil, err
		}
		if created, err = tx.InsertExecution(ctx, e); err != nil {
			return nil, err
		}
		if !created {
			return nil, ErrExecutionConflict // taken by another task, whose lock is not ours
		}
		return &event.Change{Sessions: []event.SessionChange{{SessionID: r.ParentSessionID, Executions: true}}}, nil
	})
	if err != nil {
		return Execution{}, false, fmt.Errorf("start execution: %w", err)
	}
	return e, created, nil
}

// fresh is the execution that r asks for, not yet placed.
func (s *Executions) fresh(r ExecutionStart) Execution {
	now := s.now()
	id := r.ID
	if id == "" {
		id = domain.NewID()
	}
	r.ID = ""
	return Execution{
		ID:                id,
		TaskID:            r.TaskID,
		ParentSessionID:   r.ParentSessionID,
		ParentToolCallID:  &r.ParentToolCallID,
		ChildSessionID:    r.ChildSessionID,
		AgentType:         r.AgentType,
		Tool:              r.Tool,
		Status:            ExecutionRunning,
		CreateFingerprint: domain.Fingerprint(r),
		StartedAt:         now,
		UpdatedAt:         now,
	}
}

// place gives e its number and its start in the child, which must be free.
func place(ctx context.Context, tx ExecutionTx, e Execution) (Execution, error) {
	if _, err := tx.LockSession(ctx, e.TaskID, e.ParentSessionID); err != nil {
		return e, err
	}
	child, err := tx.LockSession(ctx, e.TaskID, e.ChildSessionID)
	if err != nil {
		return e, err
	}
	if child.Kind != session.KindSubagent || child.ParentSessionID == nil || *child.ParentSessionID != e.ParentSessionID {
		return e, session.ErrNotFound
	}
	run, running, err := tx.LastRun(ctx, child.ID)
	if err != nil {
		return e, err
	}
	if running {
		return e, ErrExecutionRunning
	}
	e.Run, e.StartMessageSeq = run+1, &child.LastMessageSeq
	if e.AgentType == nil {
		e.AgentType = child.AgentType
	}
	return e, nil
}

// attach binds e to the message given, else to the newest of the current round that
// carries its call and is free, else to none: it waits (HI-6).
func attach(ctx context.Context, tx ExecutionTx, e Execution, messageID *string) (Execution, error) {
	if messageID != nil {
		d, err := tx.Delegation(ctx, e.ParentSessionID, *messageID, *e.ParentToolCallID)
		if err != nil {
			return e, err
		}
		return e.bind(d, e.UpdatedAt), nil
	}
	d, err := tx.FreeDelegation(ctx, e.ParentSessionID, *e.ParentToolCallID)
	if err != nil || d == nil {
		return e, err
	}
	return e.bind(*d, e.UpdatedAt), nil
}
