package handlers

import (
	"gatehouse/domain/access"
	"gatehouse/domain/history"
	"gatehouse/domain/prompt"
	"gatehouse/domain/session"
	"gatehouse/domain/subagent"
	"gatehouse/domain/task"
)

// resources says, for each resource, which parameter of paths is its id, and what is
// answered when it is not there: the domain's own failure, so that nobody can tell
// whether the edge or an operation missed it (API-22).
var resources = map[access.Resource]struct {
	parameter string
	missing   error
}{
	access.ResourceTask:       {"task_id", task.ErrNotFound},
	access.ResourceSession:    {"session_id", session.ErrNotFound},
	access.ResourceTurn:       {"turn_id", session.ErrTurnNotFound},
	access.ResourceMessage:    {"message_id", session.ErrMessageNotFound},
	access.ResourceDelivery:   {"delivery_id", prompt.ErrDeliveryNotFound},
	access.ResourceExecution:  {"subagent_execution_id", subagent.ErrExecutionNotFound},
	access.ResourceFileChange: {"change_id", history.ErrFileChangeNotFound},
}

// resourceOf returns the resource that a path leads with, through which it is
// authorised, or "" where it leads to no task.
func resourceOf(template string) access.Resource {
	first := pathParameter.FindStringSubmatch(template)
	for resource, of := range resources {
		if first != nil && first[1] == of.parameter {
			return resource
		}
	}
	return ""
}
