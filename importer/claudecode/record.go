package claudecode

import (
	"errors"
	"time"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"gatehouse/domain"
)

// record is one JSON object of a transcript: the members this package reads.
type record struct {
	Type             string         `json:"type"`
	Subtype          string         `json:"subtype"`
	UUID             string         `json:"uuid"`
	ParentUUID       string         `json:"parentUuid"`
	SessionID        string         `json:"sessionId"`
	Timestamp        string         `json:"timestamp"`
	CWD              string         `json:"cwd"`
	AgentID          string         `json:"agentId"`
	IsSidechain      bool           `json:"isSidechain"`
	IsMeta           bool           `json:"isMeta"`
	IsCompactSummary bool           `json:"isCompactSummary"`
	IsAPIError       bool           `json:"isApiErrorMessage"`
	Message          *apiMessage    `json:"message"`
	ToolUseResult    jsontext.Value `json:"toolUseResult"`
	ParentToolUseID  string         `json:"parentToolUseID"`
	Data             *progressData  `json:"data"`
	Summary          string         `json:"summary"`
	LeafUUID         string         `json:"leafUuid"`
	CustomTitle      string         `json:"customTitle"`
	AITitle          string         `json:"aiTitle"`
	Content          jsontext.Value `json:"content"`
	Attachment       *attachment    `json:"attachment"`

	at ref
}

// apiMessage is the message of a line as the model's interface gives it.
type apiMessage struct {
	ID         string   `json:"id"`
	Model      string   `json:"model"`
	Role       string   `json:"role"`
	Content    contents `json:"content"`
	StopReason string   `json:"stop_reason"`
	Usage      *usage   `json:"usage"`
}

type usage struct {
	InputTokens  int64 `json:"input_tokens"`
	CacheCreated int64 `json:"cache_creation_input_tokens"`
	CacheRead    int64 `json:"cache_read_input_tokens"`
	OutputTokens int64 `json:"output_tokens"`
}

// progressData is what a progress line carries. A line of type agent_progress
// mirrors one line of a subagent.
type progressData struct {
	Type    string  `json:"type"`
	AgentID string  `json:"agentId"`
	Message *record `json:"message"`
}

// attachment is what was added to a prompt; a queued command may be a notification.
type attachment struct {
	Type   string         `json:"type"`
	Prompt jsontext.Value `json:"prompt"`
}

// lenient is how transcripts are read: what one bad byte or a repeated name would
// spoil is worth more than the strictness.
var lenient = json.JoinOptions(jsontext.AllowInvalidUTF8(true), jsontext.AllowDuplicateNames(true))

// decode reads text. Where the content of a message holds a block of another shape,
// it is read once more, block by block.
func (r *record) decode(text []byte) error {
	blank := *r
	err := json.Unmarshal(text, r, lenient)
	if _, shape := errors.AsType[*json.SemanticError](err); shape {
		*r = blank
		return json.Unmarshal(text, r, lenient, blockwise)
	}
	return err
}

// unwrap returns the line that an agent_progress line mirrors, at the place of the
// mirror, and any other record as it is.
func (r *record) unwrap() *record {
	if !r.mirrors() {
		return r
	}
	inner := r.Data.Message
	inner.at = r.at
	inner.SessionID, inner.CWD, inner.AgentID, inner.IsSidechain = r.SessionID, r.CWD, r.Data.AgentID, true
	return inner
}

// mirrors reports whether r is a copy of a line of a subagent.
func (r *record) mirrors() bool {
	return r.Type == "progress" && r.Data != nil && r.Data.Type == "agent_progress" && r.Data.Message != nil
}

// speaks reports whether r is a line of a conversation.
func (r *record) speaks() bool {
	return (r.Type == typeUser || r.Type == typeAssistant) && r.Message != nil
}

// time is when the line was written, or the zero time.
func (r *record) time() time.Time {
	t, err := time.Parse(time.RFC3339, r.Timestamp)
	if err != nil || !domain.Storable(t) {
		return time.Time{}
	}
	return t.UTC().Truncate(time.Microsecond)
}

// The types of line that speak.
const (
	typeUser      = "user"
	typeAssistant = "assistant"
)

// silent names the types of line that are known and say nothing a history shows.
var silent = map[string]bool{
	"system": true, "progress": true, "attachment": true, "summary": true,
	"file-history-snapshot": true, "file-history-delta": true, "queue-operation": true,
	"pr-link": true, "last-prompt": true, "permission-mode": true, "mode": true, "ai-title": true,
	"custom-title": true, "cost-state": true, "bridge-session": true, "atis-latch": true,
}
