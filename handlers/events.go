package handlers

import (
	"encoding/json"
	"fmt"

	"gatehouse/domain/feed"
	"gatehouse/domain/session"
	"gatehouse/gen"
)

// EncodeEvent makes the data of an event, one line of JSON: it is what SSE and the
// WebSocket send, and is made once for all streams of a task (see [feed.Config]).
func EncodeEvent(p feed.Payload) ([]byte, error) {
	body, err := eventBody(p)
	if err != nil {
		return nil, err
	}
	return json.Marshal(body)
}

// eventBody is what the contract says that an event of a name shows.
func eventBody(p feed.Payload) (any, error) {
	switch p := p.(type) {
	case feed.Task:
		return gen.TaskEvent{Task: taskBody(p.Task), Sessions: each(p.Sessions, taskSessionBody)}, nil
	case feed.Plan:
		return planEventBody(p), nil
	case feed.Comments:
		return commentsEventBody(p), nil
	case feed.Queue:
		return queueEventBody(p), nil
	case feed.Messages:
		return gen.MessagesEvent{TaskID: p.TaskID, SessionID: p.SessionID, LastSeq: p.LastSeq}, nil
	case feed.Interrupt:
		return gen.InterruptEvent{TaskID: p.TaskID, SessionID: p.SessionID, TurnID: p.TurnID}, nil
	case feed.Execution:
		return executionBody(p.Execution), nil
	case feed.Ready:
		return gen.ReadyEvent{TaskID: p.TaskID}, nil
	default:
		return nil, fmt.Errorf("event %T has no form in the contract", p)
	}
}

func taskSessionBody(s session.Session) gen.TaskSession {
	return gen.TaskSession{
		ID: s.ID, Kind: gen.SessionKind(s.Kind), ParentSessionID: nullOr(s.ParentSessionID), AgentType: nullOr(s.AgentType),
		Title: s.Title, WorkspacePath: nullOr(s.WorkspacePath), State: gen.SessionState(s.State), AutoRun: s.AutoRun,
		IncarnationID: s.IncarnationID, CreatedAt: at(s.CreatedAt),
	}
}

// nullPlan is the id of a plan, nil for "".
func nullPlan(id string) *string {
	if id == "" {
		return nil
	}
	return &id
}

func planEventBody(p feed.Plan) gen.PlanEvent {
	body := gen.PlanEvent{TaskID: p.TaskID, PlanID: nullOr(nullPlan(p.PlanID)), Version: nullOr[int64](nil)}
	if p.PlanID != "" {
		body.Version.Set(p.Version)
	}
	return body
}

func commentsEventBody(c feed.Comments) gen.CommentsEvent {
	return gen.CommentsEvent{
		TaskID: c.TaskID, PlanID: nullOr(nullPlan(c.PlanID)), Revision: c.Revision, Comments: each(c.Comments, commentBody),
	}
}

func queueEventBody(q feed.Queue) gen.QueueEvent {
	return gen.QueueEvent{
		TaskID: q.TaskID, SessionID: q.SessionID, QueueRevision: q.Revision, Capacity: q.Capacity, AutoRun: q.AutoRun,
		Entries: each(q.Entries, func(e feed.Entry) gen.QueueEventEntry {
			return gen.QueueEventEntry{
				ID: e.ID, Kind: gen.DeliveryKind(e.Kind), ClientID: nullOr(e.ClientID), State: gen.DeliveryState(e.State),
				Position: e.Position, Version: e.Version, Size: e.Size, Preview: e.Preview,
			}
		}),
	}
}
