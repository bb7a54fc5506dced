// Package history keeps what a session said and which files its turns changed, and
// shows both, its subagents' changes included.
//
// A message is appended once, whatever is re-sent ([Service.Append]): it is told by
// its id and its original request. Its seq is the next of the session, and the only
// order there is. A rollback hides messages and takes nothing away.
//
// The frames of a tool call are one message, that each of them is merged into once
// ([Service.AppendFrames]). On its way a frame is
//
//	read        by itself, or named by what is wrong with it (frame.go)
//	folded      in order with the others of its batch and what is stored: it makes the
//	            message of its call, or meets it, or is told again (framefold.go)
//	merged      into that message, member by member (framemerge.go)
//	written     with the messages of the batch, in one transaction (frames.go)
//	recorded    after the commit, where it tells of a subagent: see package subagent
//
// A change is recorded once, as its reporter told it ([Record]), on the message
// that carries it. Reading never joins by time: a change belongs to a message
// because it stands on it, or because the run of a delegation that the message
// issued produced it. Two links say so, written when they came to be:
//
//	execution → parent message   the one that issued the call, fixed once bound
//	execution → (start, end]     of the seqs of the child, fixed at start and end
//
// So a page follows, from its messages, the executions bound to them, to the changes
// in their ranges and the executions bound to messages in their ranges, eight levels
// deep. A page lists changes one by one; a round and a session sum them up by path
// ([Merge]).
//
// A page is read in one transaction by a number of statements that depends on
// nothing: the session and the edge of the page, its messages, the work on them, and
// the texts that the page has room for.
package history
