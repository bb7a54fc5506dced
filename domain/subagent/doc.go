// Package subagent keeps what is known of the work that agents hand on.
//
// An [Execution] is one run of a subagent session, with the range of its messages
// and the message of the parent that delegated it. History follows these links.
//
// A [Context] is what frames of tool calls report of one invocation: telemetry, that
// nothing else hangs on. A [Recorder] takes frames behind the commit of their
// messages, each with what it reports ([Report], [PayloadOf]), and has the store merge
// that into the row of its key by one statement ([ContextStore], which lists the
// rules). It can fail without anybody noticing but those who watch its counters.
//
// [Contexts] reads them. An [Activation] says since when they are complete, and a
// [Health] whether they still are: it compares the messages with them, from the
// database alone, so that it also tells of a writer that has stopped.
package subagent
