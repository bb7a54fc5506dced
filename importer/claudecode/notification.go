package claudecode

import (
	"regexp"
	"strconv"
	"strings"
	"time"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"
)

// ending is the news that a subagent in the background has ended.
type ending struct {
	agent   string
	status  State
	metrics Metrics
	at      ref
	time    time.Time
}

// endedStates tells ends by the word that reports them. Any other word is no end.
var endedStates = map[string]State{
	"completed": StateCompleted, "complete": StateCompleted, "success": StateCompleted,
	"failed": StateFailed, "error": StateFailed,
	"killed": StateCancelled, "stopped": StateCancelled, "cancelled": StateCancelled, "canceled": StateCancelled,
}

// notification reads the news of a line outside of results: a user line, an entry
// of the queue or an attachment that carries one.
func (r *record) notification() (ending, bool) {
	var text string
	switch {
	case r.Type == typeUser && r.Message != nil:
		text = plainText(r.content())
	case r.Type == "queue-operation":
		text = plainText(blocksOf(r.Content))
	case r.Attachment != nil && r.Attachment.Type == "queued_command":
		text = plainText(blocksOf(r.Attachment.Prompt))
	}
	text = strings.TrimSpace(text)
	agent := ""
	switch {
	case strings.HasPrefix(text, "<task-notification>"):
		agent = tag(text, "task-id")
	case strings.HasPrefix(text, "<agent-notification>"):
		agent = tag(text, "agent-id")
	}
	status, ended := endedStates[strings.TrimSpace(tag(text, "status"))]
	if agent == "" || !ended {
		return ending{}, false
	}
	return ending{strings.TrimSpace(agent), status, metricsIn(tag(text, "usage")), r.at, r.time()}, true
}

// polls names the tools that ask about background work, or stop it.
var polls = map[string]bool{
	"TaskOutput": true, "AgentOutputTool": true, "TaskStop": true, "KillTask": true,
}

// pollResult is what a tool of polls answers.
type pollResult struct {
	TaskID string `json:"task_id"`
	Task   struct {
		TaskID string `json:"task_id"`
		Status string `json:"status"`
	} `json:"task"`
}

// polled reads the news in the answer to a tool of polls.
func polled(tool string, res toolResult, at ref, when time.Time) (ending, bool) {
	if res.failed() {
		return ending{}, false
	}
	var p pollResult
	if res.detail.Kind() != '{' || json.Unmarshal(res.detail, &p, lenient) != nil {
		text := res.text()
		p.Task.TaskID, p.Task.Status = tag(text, "task_id"), tag(text, "status")
	}
	e := ending{agent: p.Task.TaskID, at: at, time: when}
	status, ended := endedStates[p.Task.Status]
	e.status = status
	if strings.HasPrefix(tool, "TaskStop") || tool == "KillTask" {
		e.agent, e.status, ended = p.TaskID, StateCancelled, true
	}
	return e, ended && e.agent != ""
}

var (
	tokensIn   = regexp.MustCompile(`total_tokens: ?(\d{1,18})`)
	toolUsesIn = regexp.MustCompile(`tool_uses: ?(\d{1,18})`)
	durationIn = regexp.MustCompile(`duration_ms: ?(\d{1,18})`)
)

// metricsIn reads the numbers of a usage note, of which some may be missing.
func metricsIn(text string) Metrics {
	return Metrics{TotalTokens: number(tokensIn, text), ToolUses: number(toolUsesIn, text), DurationMS: number(durationIn, text)}
}

func number(of *regexp.Regexp, text string) *int64 {
	m := of.FindStringSubmatch(text)
	if m == nil {
		return nil
	}
	n, err := strconv.ParseInt(m[1], 10, 64)
	if err != nil {
		return nil
	}
	return &n
}

// whole reads a JSON number that is a whole one.
func whole(v jsontext.Value) *int64 {
	n, err := strconv.ParseInt(string(v), 10, 64)
	if err != nil {
		return nil
	}
	return &n
}
