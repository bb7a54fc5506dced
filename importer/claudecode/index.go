package claudecode

import (
	"cmp"
	"crypto/sha256"
	"strconv"
	"strings"
	"time"

	"github.com/go-json-experiment/json"
)

// index is what the first pass over a thread keeps: places and small facts.
type index struct {
	lines       map[string][]ref    // of each assistant message, in file order
	calls       map[string]*call    // the newest of each id
	earlier     map[[2]string]*call // others, by id and message
	tools       map[string]string
	delegations []*call // in file order
	endings     []ending
	last        string // the message that began last; "" when a prompt did
	facts       facts
}

// call is one call of a tool, on one message.
type call struct {
	name     string
	message  string // key of the message it stands in
	ran      bool   // whether this or an earlier call of the id delegates
	answered bool
	result   ref // of the line that answers it
	*delegated
}

// delegated is what else is known of a call that delegates. Other calls have none.
type delegated struct {
	id          string
	at          ref // of its line
	prompt      digest
	description string
	agentType   string
	agentID     string // once the result names it; of a call that resumes one, from the start
	async       bool
	outcome     State // of a call that was answered and is not async
	metrics     Metrics
	ended       time.Time
}

// digest stands for a prompt, to compare it.
type digest [16]byte

func digestOf(prompt string) digest {
	sum := sha256.Sum256([]byte(strings.TrimSpace(prompt)))
	return digest(sum[:16])
}

func newIndex() *index {
	return &index{
		lines: map[string][]ref{}, calls: map[string]*call{}, earlier: map[[2]string]*call{}, tools: map[string]string{},
		facts: facts{seen: uuids{}, summaries: map[string]string{}},
	}
}

// key names the message a line belongs to: the lines of one message share its id.
func (r *record) key() string {
	if r.Message.ID != "" {
		return r.Message.ID
	}
	return r.name()
}

// name tells a line from the others of its file. Lines are only ever added, so a
// line without a UUID is told by its place.
func (r *record) name() string {
	if r.UUID != "" {
		return r.UUID
	}
	return "at:" + strconv.FormatInt(r.at.off, 10)
}

// add takes in a line of the thread.
func (x *index) add(r *record) {
	x.facts.add(r)
	if e, ok := r.notification(); ok {
		x.endings = append(x.endings, e)
	}
	if !r.speaks() {
		return
	}
	if r.Type == typeAssistant {
		x.addAssistant(r)
		return
	}
	for _, a := range r.answers() {
		x.addAnswer(r, a)
	}
	if says := r.says(); says == saysPrompt || says == saysInterrupt {
		x.last = ""
	}
}

func (x *index) addAssistant(r *record) {
	key := r.key()
	if len(x.lines[key]) == 0 {
		x.last = key
	}
	x.lines[key] = append(x.lines[key], r.at)
	for _, b := range r.content() {
		if b.Type != blockToolUse || b.ID == "" || x.call(b.ID, key) != nil {
			continue
		}
		c, before := &call{name: x.tool(b.Name), message: key, ran: delegates[b.Name]}, x.calls[b.ID]
		x.calls[b.ID] = c
		if before != nil {
			x.earlier[[2]string{b.ID, before.message}] = before
			c.ran = c.ran || before.ran
		}
		if delegates[b.Name] && (before == nil || !before.ran) { // the run of an id is that of the first
			var in struct {
				Prompt      string `json:"prompt"`
				Description string `json:"description"`
				AgentType   string `json:"subagent_type"`
				Resume      string `json:"resume"`
			}
			_ = json.Unmarshal(b.Input, &in, lenient) // what cannot be read is not known
			c.delegated = &delegated{
				id: b.ID, at: r.at,
				prompt: digestOf(in.Prompt), description: title(in.Description), agentType: title(in.AgentType), agentID: in.Resume,
			}
			x.delegations = append(x.delegations, c)
		}
	}
}

// call returns the call of an id on a message: ids may be used again (HI-6), and what
// answers one means the newest before it. It is nil when there is none.
func (x *index) call(id, message string) *call {
	if c := x.calls[id]; c == nil || c.message == message {
		return c
	}
	return x.earlier[[2]string{id, message}]
}

// tool is the name of a tool, kept once for all of its calls.
func (x *index) tool(name string) string {
	kept, known := x.tools[name]
	if !known {
		kept = name
		x.tools[name] = name
	}
	return kept
}

func (x *index) addAnswer(r *record, a answer) {
	c := x.calls[a.call]
	if c == nil || c.answered {
		return
	}
	c.answered, c.result = true, r.at
	if polls[c.name] {
		if e, ok := polled(c.name, a.toolResult, r.at, r.time()); ok {
			x.endings = append(x.endings, e)
		}
	}
	if c.delegated == nil {
		return
	}
	c.outcome, c.ended = a.outcome(), r.time()
	var d delegation
	d, c.metrics = a.delegation()
	c.agentID = cmp.Or(d.AgentID, c.agentID)
	if c.outcome == StateCompleted {
		c.async = d.IsAsync
		if status, ok := endedStates[d.Status]; ok {
			c.outcome = status
		}
	}
	if c.agentType == "" {
		c.agentType = title(d.AgentType)
	}
}

// passed reports whether the thread went on behind the message: no line of it will
// follow.
func (x *index) passed(key string) bool { return x.last != key }
