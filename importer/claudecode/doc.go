// Package claudecode reads the session files of Claude Code and tells a [Sink]
// what happened in them (HI-30 to HI-33): tasks, sessions, turns, messages, file
// changes and the runs of subagents. docs/transcripts.md describes the format.
//
// It works in two layers. The lower one (file.go, scan.go, record.go) reads JSON
// values from a file, whatever state the file is in. The upper one understands
// them, thread by thread; a thread is the conversation of the main agent or of one
// subagent, in whichever of the layouts it was written:
//
//   - index.go passes over a thread once and keeps small facts: where the lines of
//     a message and the results of its calls stand, which call delegates to which
//     subagent, how background work ended;
//   - thread.go passes over it again and tells the sink, in file order. What stands
//     later in the file, but belongs to a message, is read from its place.
//
// So no more than one message is in memory at a time, beside the facts, which are
// a few per cent of the file. A delegated thread is told right behind the message
// that called it: started, its messages, ended.
//
// Every id derives from the transcript. The same files give the same operations,
// and files that grew give the earlier ones and more: a sink that passes over what
// it knows may be told everything again (HI-30). Only a message that is not
// [Message.Settled] and a turn or an execution that runs may have more to them
// later.
package claudecode
