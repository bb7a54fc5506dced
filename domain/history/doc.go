// Package history shows what a session said and which files its turns changed, its
// subagents' changes included.
//
// A change is recorded once, as its reporter told it ([Record]), on the message
// that carries it. Reading never joins by time: a change belongs to a message
// because it stands on it, or because the run of a delegation that the message
// issued produced it. A page lists changes one by one; a round and a session sum
// them up by path ([Merge]).
package history
