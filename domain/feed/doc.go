// Package feed tells whoever follows a task what became of it: complete snapshots of
// the topics that changed, in the order in which they changed (EV). It says nothing of
// how they travel; the streams of SSE and the subscriptions of a WebSocket are both a
// [Stream].
//
// A follower stands at a number of the task, the greatest it has seen. What it is owed
// is whatever was stamped later, read with its stamps from one state of the database
// (EV-1). So nothing is kept for anybody: a follower that was away, or slow, or is new
// here, is owed the same as one that never left, and what happened in between is
// coalesced into the snapshots of its end (EV-2, EV-5).
//
// The streams of one task at one server stand in a [room]. They mostly stand at the same
// number, and then the first of them reads and encodes for all.
//
//	news of a change, or the periodic check ─► room: the number it is known to be at
//	stream: stands below it ─► what is owed since its number, read once for all who stand there
package feed
