package history

import "time"

// ChangeType says what happened to a file.
type ChangeType string

// The change types.
const (
	Created  ChangeType = "CREATED"
	Modified ChangeType = "MODIFIED"
	Deleted  ChangeType = "DELETED"
	Renamed  ChangeType = "RENAMED"
)

// ChangeTypes lists every change type.
var ChangeTypes = []ChangeType{Created, Modified, Deleted, Renamed}

// DiffMode says how a change keeps its difference.
type DiffMode string

// The diff modes (HI-7).
const (
	Snapshot    DiffMode = "SNAPSHOT"    // both texts in full
	Patch       DiffMode = "PATCH"       // a unified diff, perhaps cut
	Unsupported DiffMode = "UNSUPPORTED" // no text, only the fact and a reason
)

// Why a change has no difference to show.
const (
	ReasonBinary      = "binary"       // U+0000 near the start of a side, or no UTF-8
	ReasonNUL         = "nul"          // U+0000 somewhere in a text, which cannot be stored
	ReasonNotReported = "not_reported" // neither texts nor a patch were given
)

// FileChange is one operation on one file, as a message reported it. It outlives
// its message and names no child session that could be deleted (HI-25).
type FileChange struct {
	ID                    string `bun:",pk"`
	TaskID                string
	SessionID             string
	MessageID             string
	MessageSeq            int64   // of the message in its session
	Ordinal               int     // among the changes of the message, from 0
	Path                  string  // as reported, at most 4 KiB
	PathKey               string  // see [PathKey]
	OldPath               *string // of RENAMED, as reported
	OldPathKey            *string // of RENAMED
	ChangeType            ChangeType
	DiffMode              DiffMode
	BeforeContent         *string // of SNAPSHOT, at most 512 KiB
	AfterContent          *string // of SNAPSHOT, at most 512 KiB
	Patch                 *string // of PATCH, at most 256 KiB, whole lines
	PatchTruncated        bool    // whether Patch lost its end
	DiffUnavailableReason *string // of UNSUPPORTED, one of the Reason constants
	LinesAdded            *int64  // nil when not known
	LinesDeleted          *int64  // nil when not known
	ToolCallID            *string // of the call that made it
	CreatedAt             time.Time
	TextBytes             int64 // of the three texts together, also where they are left out
}
