// Package importer loads transcripts of agents into the database (HI-30 to HI-33),
// through the operations of the domain.
//
// Package claudecode tells what a transcript holds, with ids that derive from it;
// [Loader] passes that on, in order and in batches, and counts what of it was new. It
// reads ahead while the database works: sink.go makes jobs of what is told, writer.go
// does them one after the other.
// What is there already is passed over by its id, so a transcript may be loaded again,
// also when it has grown, or when loading it was cut short anywhere.
package importer
