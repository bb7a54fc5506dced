package claudecode

import (
	"os"
	"path/filepath"
	"slices"
	"time"

	"gatehouse/domain"
)

// child is a subagent that a call led to.
type child struct {
	agent   string // its name; the id of the call when it has none
	session string
	parent  string // the session that calls it
	runs    []*call
	path    string // of its file; "" when it has none
	own     bool   // whether the file is in the session's own folder
	lines   []ref  // of it in the main file
	meta    agentMeta
}

// link finds the subagents that the calls of a thread led to, the surest way first:
// a name that the result, the file beside the subagent's, or its mirror gives; then
// the prompt. A call whose subagent cannot be told yet has none: with a grown file
// it may have one.
func (r *reader) link(x *index, parent string) map[string]*child {
	linked := map[string]*child{}
	for _, c := range x.delegations {
		if agent := r.named(c); agent != "" {
			r.claim(linked, agent, c, parent)
		}
	}
	for _, c := range x.delegations {
		if linked[c.id] != nil {
			continue
		}
		agent := r.prompted(x, c, linked)
		chain := r.chains.take(c.id, c.prompt)
		switch {
		case chain != nil:
			if ch := r.claim(linked, c.id, c, parent); ch != nil {
				ch.lines = chain.lines
			}
		case agent != "":
			r.claim(linked, agent, c, parent)
		case c.answered || x.passed(c.message): // nothing will name it any more
			r.claim(linked, c.id, c, parent)
		}
	}
	return linked
}

// named returns the agent that is known to answer c.
func (r *reader) named(c *call) string {
	for _, a := range r.agents {
		if a.meta.ToolUseID == c.id {
			return a.id
		}
	}
	if c.agentID != "" {
		return c.agentID
	}
	return r.mirrored[c.id]
}

// prompted returns the agent of the only unclaimed file of the own folder that
// begins with the prompt of c, when no other open call of the thread has it.
func (r *reader) prompted(x *index, c *call, linked map[string]*child) string {
	if c.answered {
		return ""
	}
	for _, other := range x.delegations {
		if other != c && other.prompt == c.prompt && linked[other.id] == nil {
			return ""
		}
	}
	found := ""
	for _, a := range r.agents {
		if r.children[a.id] != nil || r.promptOf(a) != c.prompt {
			continue
		}
		if found != "" {
			return ""
		}
		found = a.id
	}
	return found
}

// promptOf is the prompt that the file of a subagent begins with.
func (r *reader) promptOf(a *agentFile) digest {
	if d, ok := r.prompts[a.path]; ok {
		return d
	}
	d := digest{}
	if f, closeFile, err := r.open(a.path); err == nil {
		for rec, err := range f.records(r.limit, silence) {
			if err == nil && rec.speaks() {
				d = digestOf(plainText(rec.content()))
			}
			break
		}
		_ = closeFile() // it was read only
	}
	r.prompts[a.path] = d
	return d
}

// claim notes that c is a run of agent. An agent belongs to the session that called
// it first.
func (r *reader) claim(linked map[string]*child, agent string, c *call, parent string) *child {
	ch := r.children[agent]
	if ch == nil {
		ch = &child{agent: agent, session: domain.DeriveID(r.session, agent), parent: parent}
		r.find(ch)
		r.children[agent] = ch
	}
	if ch.parent != parent {
		return nil
	}
	linked[c.id] = ch
	if ch.run(c.id) < 0 {
		ch.runs = append(ch.runs, c)
	}
	return ch
}

// find sets where the lines of ch stand.
func (r *reader) find(ch *child) {
	ch.lines = r.mirrors[ch.agent]
	for _, a := range r.agents {
		if a.id == ch.agent {
			ch.path, ch.meta, ch.own = a.path, a.meta, true
			return
		}
	}
	if !agentID.MatchString(ch.agent) {
		return
	}
	beside := filepath.Join(filepath.Dir(r.main.path), agentPrefix+ch.agent+extension)
	if info, err := os.Stat(beside); err == nil && info.Mode().IsRegular() {
		ch.path, ch.meta = beside, metaOf(beside)
	}
}

// run returns which run of ch a call is, from 0; -1 for none.
func (ch *child) run(id string) int {
	return slices.IndexFunc(ch.runs, func(c *call) bool { return c.id == id })
}

// ended tells how run k of ch ended, if it did. What was launched in the background
// ends with the news of it, and no later than the next run begins; a launch reports
// no usage (SC-9), only the news may.
func (r *reader) ended(ch *child, k int) (status State, m Metrics, at time.Time, ok bool) {
	c := ch.runs[k]
	last := k == len(ch.runs)-1
	if c.answered && !c.async {
		return c.outcome, c.metrics, c.ended, true
	}
	for _, e := range r.endings[ch.agent] {
		here := e.at.file == c.at.file
		if here && e.at.off < c.at.off || here && !last && e.at.off > ch.runs[k+1].at.off || !here && !last {
			continue
		}
		return e.status, e.metrics, e.time, true
	}
	if !last {
		return StateCompleted, Metrics{}, time.Time{}, true
	}
	return StateRunning, Metrics{}, time.Time{}, false
}
