package claudecode

// Reason says why something in a file was passed over or repaired.
type Reason string

// The reasons. They are all that reading has, and none holds text of a transcript.
const (
	ReasonTorn        Reason = "torn_line"        // ends in the middle of a value
	ReasonMalformed   Reason = "malformed_json"   // no JSON
	ReasonNoObject    Reason = "not_an_object"    // JSON, but no object
	ReasonShape       Reason = "unexpected_shape" // an object whose members have other types than they should
	ReasonTooLong     Reason = "line_too_long"    // over MaxLine
	ReasonUTF8        Reason = "invalid_utf8"     // repaired with U+FFFD, not skipped
	ReasonUnknownType Reason = "unknown_type"     // a kind of line this package does not know
	ReasonNoSession   Reason = "no_conversation"  // a file without a single message
	ReasonUnlinked    Reason = "unlinked_agent"   // a subagent's file that no call leads to
	ReasonUnreadable  Reason = "unreadable_file"  // the system did not let it be read
)

// Problem is one thing that was passed over or repaired (HI-31).
type Problem struct {
	File   string `json:"file"`
	Line   int    `json:"line"` // from 1; 0 for the file as a whole
	Reason Reason `json:"reason"`
}

// MaxProblems is how many problems a summary names; the others are only counted.
const MaxProblems = 1000

// Summary counts what transcripts hold (HI-33).
type Summary struct {
	Files       int            `json:"files"`
	Tasks       int            `json:"tasks"`
	Sessions    int            `json:"sessions"`
	Messages    int            `json:"messages"`
	FileChanges int            `json:"file_changes"`
	Executions  int            `json:"executions"`
	Subagents   int            `json:"subagents"`
	Skipped     map[Reason]int `json:"skipped"`
	Problems    []Problem      `json:"problems"`
}

// NewSummary returns a summary of nothing, ready to count.
func NewSummary() *Summary {
	return &Summary{Skipped: make(map[Reason]int), Problems: []Problem{}}
}

// Report counts something that was passed over, and names it while there is room.
func (s *Summary) Report(file string, line int, reason Reason) {
	s.Skipped[reason]++
	if len(s.Problems) < MaxProblems {
		s.Problems = append(s.Problems, Problem{file, line, reason})
	}
}
