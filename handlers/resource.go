package handlers

import (
	"strings"

	"gatehouse/domain"
	"gatehouse/domain/access"
)

// resourceParameters names, for each resource, the parameter of paths that is its id.
var resourceParameters = map[access.Resource]string{
	access.ResourceTask:       "task_id",
	access.ResourceSession:    "session_id",
	access.ResourceTurn:       "turn_id",
	access.ResourceMessage:    "message_id",
	access.ResourceDelivery:   "delivery_id",
	access.ResourceExecution:  "subagent_execution_id",
	access.ResourceFileChange: "change_id",
}

// resourceOf returns the resource that a path leads with, through which it is
// authorised, or "" where it leads to no task.
func resourceOf(template string) access.Resource {
	first := pathParameter.FindStringSubmatch(template)
	for resource, parameter := range resourceParameters {
		if first != nil && first[1] == parameter {
			return resource
		}
	}
	return ""
}

// missing is the answer for a resource that is not there, and for one that the
// caller may not know of. It equals the domain's own.
func missing(r access.Resource) error {
	return &domain.Error{
		Kind: domain.KindNotFound, Code: string(r) + "_not_found",
		Detail: "There is no such " + strings.ReplaceAll(string(r), "_", " ") + ".",
	}
}
