package claudecode

import (
	"regexp"
	"strings"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"
)

// delegates names the tools that call a subagent; the tool was renamed once.
var delegates = map[string]bool{"Task": true, "Agent": true}

// toolResult is what a tool answered to one call.
type toolResult struct {
	content jsontext.Value // for the model
	isError bool           //
	detail  jsontext.Value // for the program: an object, a text when it failed, or nothing
}

// text is the content as text. Blocks that are no text remain as they were written. Of
// most results nobody asks for it while a thread is indexed, so it is not kept.
func (res toolResult) text() string {
	blocks := blocksOf(res.content)
	if text := plainText(blocks); text != "" || len(blocks) == 0 {
		return text
	}
	return strings.ToValidUTF8(string(res.content), "\uFFFD")
}

// answer is the result of one call.
type answer struct {
	call string
	toolResult
}

// answers returns the results that r holds: one, as a rule.
func (r *record) answers() []answer {
	var all []answer
	for _, b := range r.content() {
		if b.Type == blockResult {
			all = append(all, answer{b.ToolUseID, toolResult{b.Content, b.IsError, r.ToolUseResult}})
		}
	}
	return all
}

// resultOf returns what r answers to call.
func (r *record) resultOf(call string) (toolResult, bool) {
	for _, res := range r.answers() {
		if res.call == call {
			return res.toolResult, true
		}
	}
	return toolResult{}, false
}

// failed reports whether the call failed, was rejected or was interrupted.
func (res toolResult) failed() bool {
	return res.isError || res.detail.Kind() == '"' && strings.HasPrefix(textValue(res.detail), "Error")
}

// rejections are the words by which a result says that a person, or the failure of
// another call, stopped this one.
var rejections = []string{
	"doesn't want to proceed with this tool use", "User rejected tool use", "doesn't want to take this action",
	"Permission prompt was aborted", "Request interrupted by user", "Interrupted by user", "Sibling tool call errored",
}

// outcome says how a failed call ended: cancelled when somebody stopped it.
func (res toolResult) outcome() State {
	if !res.failed() {
		return StateCompleted
	}
	text, detail := res.text(), textValue(res.detail)
	for _, r := range rejections {
		if strings.Contains(text, r) || strings.Contains(detail, r) {
			return StateCancelled
		}
	}
	return StateFailed
}

// delegation is what the result of a delegating call tells of the subagent.
type delegation struct {
	AgentID   string         `json:"agentId"`
	AgentType string         `json:"agentType"`
	Status    string         `json:"status"`
	IsAsync   bool           `json:"isAsync"`
	Model     string         `json:"resolvedModel"`
	Tokens    jsontext.Value `json:"totalTokens"`
	ToolUses  jsontext.Value `json:"totalToolUseCount"`
	Duration  jsontext.Value `json:"totalDurationMs"`
}

var agentIn = regexp.MustCompile(`agentId: ?([0-9A-Za-z_-]{1,128})`)

// delegation reads res. Without the detail of the program, as in the files of
// subagents, the text tells the same.
func (res toolResult) delegation() (d delegation, m Metrics) {
	if res.detail.Kind() == '{' && json.Unmarshal(res.detail, &d, lenient) == nil {
		m = Metrics{d.Model, whole(d.Tokens), whole(d.ToolUses), whole(d.Duration)}
	} else {
		text := res.text()
		m = metricsIn(tag(text, "usage"))
		if id := agentIn.FindStringSubmatch(text); id != nil {
			d.AgentID = id[1]
		}
		d.IsAsync = strings.HasPrefix(text, "Async agent launched")
	}
	d.IsAsync = d.IsAsync || strings.HasSuffix(d.Status, "_launched") || strings.HasSuffix(d.Status, "_spawned")
	return d, m
}

// summaryLength is how long the summary of a call is, in bytes.
const summaryLength = 200

// telling are the arguments that say what a call is about, the best first.
var telling = []string{"description", "file_path", "notebook_path", "command", "pattern", "query", "url", "skill", "subject"}

// summarize says in a few words what a call does.
func summarize(input jsontext.Value) string {
	var arguments map[string]jsontext.Value
	if json.Unmarshal(input, &arguments, lenient) != nil {
		return ""
	}
	for _, name := range telling {
		if s := title(textValue(arguments[name])); s != "" {
			return clip(s, summaryLength)
		}
	}
	return ""
}
