package domain

import "time"

// Limits in bytes of UTF-8 or in counts, all inclusive (API-3). They are stated
// here once; /v1/limits lists them and openapi.yaml names them in words.
const (
	MaxShortText       = 500       // title, label, agent_type, model, name
	MaxDescription     = 64 << 10  // description
	MaxMetadata        = 64 << 10  // metadata, as canonical JSON
	MaxMetadataDepth   = 16        // nesting of metadata
	MaxPath            = 4 << 10   // workspace_path, path, old_path
	MaxPlanContent     = 1 << 20   // plan content
	MaxPromptContent   = 1 << 20   // prompt content, raw and rendered
	MaxMessageText     = 4 << 20   // message content, thinking, arguments; a frame's content, normalized, raw
	MaxOpaqueID        = 512       // tool_call_id, execution_id
	MaxBatch           = 500       // messages or frames per batch, tool calls per message
	MaxFileChanges     = 1000      // file changes per message
	MaxPageMessages    = 1000      // messages per page of history or rounds
	MaxPageText        = 32 << 20  // text of the messages of such a page, unless its only one has more (HI-24)
	MaxRefs            = 100       // refs per prompt, drafts per import
	MaxCommentBody     = 64 << 10  // comment body (PC-2)
	MaxCommentSelected = 256 << 10 // selected text of a comment (PC-2)
	MaxCommentCount    = 100       // comments of one plan (PC-2)
	MaxCommentTotal    = 1 << 20   // bodies and selected texts of one plan (PC-2)
	MaxAttachments     = 10        // attachments per prompt (AD-10)
	MaxAttachmentBytes = 10 << 20  // one attachment (AD-10)
	MaxStaged          = 100       // attachments of one task that no prompt took
	MaxSnapshotSide    = 512 << 10 // one side of a snapshot change (HI-7)
	MaxPatch           = 256 << 10 // text of one patch (HI-7)
	BinaryProbe        = 8192      // characters looked at for a NUL (HI-7)
	MaxPageDiffText    = 8 << 20   // diff text of one page (HI-24)
	MaxNesting         = 8         // depth of nested delegation (HI-22)
	MaxRounds          = 50        // rounds of a page, of history or of rounds
	DefaultRounds      = 5         // rounds of a page of history when neither rounds nor limit is given
	DefaultRoundItems  = 10        // rounds of a page of rounds when limit is absent
	MaxJSONDepth       = 64        // nesting of a request body (API-2)
	MaxListItems       = 200       // limit of a list; default DefaultListItems (API-7)
	DefaultListItems   = 50        // items of a list page when limit is absent
	MaxLeaseSeconds    = 300       // lease_seconds of a reservation
	DefaultLease       = 30        // seconds, when lease_seconds is absent
	MaxWaitSeconds     = 60        // wait_seconds of a reservation
	DefaultCapacity    = 100       // deliveries a session may be owed, unless set (AD-5)
)

// Times that hold unless set.
const (
	DefaultAttachmentExpiry   = 24 * time.Hour // that a staged attachment stays which no prompt takes (AD-10)
	DefaultAcknowledgeTimeout = time.Hour      // that a runner has to acknowledge what it attempted (DL-3)
)
