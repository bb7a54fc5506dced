// Package subagent keeps what is known of the work that agents hand on.
//
// An [Execution] is one run of a subagent session, with the range of its messages
// and the message of the parent that delegated it. History follows these links.
package subagent
