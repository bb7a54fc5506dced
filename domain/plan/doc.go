// Package plan keeps the current plan of a task, its revisions, and the pending
// comments on it: feedback that a person has written and not yet sent to an agent.
//
// Comments hang on the plan and never on a session (PC-6). They leave in one of
// four ways: a person deletes them, an edit of the plan removes the text they
// mark, the plan is deleted, or an admission consumes them (AD-2). Whichever it
// is happens under the task row lock (PC-12) and, while the plan lives, adds
// exactly 1 to the plan's comments revision (PC-1), so that (plan id, revision)
// names one state of the collection.
//
// An operation reads the [Snapshot] under the lock, decides with the pure rules
// of this package, writes, and answers the snapshot that results.
package plan
