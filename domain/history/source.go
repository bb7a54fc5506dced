package history

// SourceType says whose work a change is.
type SourceType string

// The source types. A subagent session's own history marks its own changes
// SUBAGENT as well.
const (
	SourceMain     SourceType = "MAIN"
	SourceSubagent SourceType = "SUBAGENT"
)

// SourcedChange is a change as a history shows it: with the session and the run
// it came from.
type SourcedChange struct {
	FileChange

	SourceSessionID   string
	SourceType        SourceType
	SourceAgentType   *string // of a subagent
	SourceExecutionID *string // of the run that made it; nil for the session's own
	DiffOmitted       bool    // whether the texts were left out to keep the page small (HI-24)
}

// Source is one contributor to a merged change.
type Source struct {
	Type      SourceType
	SessionID string
}
