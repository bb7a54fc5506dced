package claudecode

import (
	"slices"
	"time"

	"gatehouse/domain"
)

// noTitle is the title of a task whose transcript tells none yet.
const noTitle = "Claude Code session"

// facts is what a thread tells of itself.
type facts struct {
	sessionID   string
	cwd         string
	began       time.Time
	prompt      string // start of the first prompt
	command     string // the first prompt that is a command
	firstPrompt digest // of the first user line
	hasPrompt   bool
	speaks      bool
	model       string // of the first answer
	customTitle string
	aiTitle     string
	summaries   map[string]string // by the line they sum up
	seen        uuids             // of all lines
}

func (f *facts) add(r *record) {
	if f.sessionID == "" && r.speaks() {
		f.sessionID = r.SessionID
	}
	if f.cwd == "" && len(r.CWD) <= domain.MaxPath && !domain.HasNUL(r.CWD) {
		f.cwd = r.CWD
	}
	if f.began.IsZero() && r.speaks() {
		f.began = r.time()
	}
	f.speaks = f.speaks || r.speaks()
	if r.UUID != "" {
		f.seen.add(r.UUID)
	}
	switch r.Type {
	case "summary":
		f.summaries[r.LeafUUID] = title(r.Summary)
	case "custom-title":
		f.customTitle = title(r.CustomTitle)
	case "ai-title":
		f.aiTitle = title(r.AITitle)
	case typeUser:
		f.addPrompt(r)
	case typeAssistant:
		if r.speaks() && f.model == "" && !r.IsAPIError {
			f.model = title(r.Message.Model)
		}
	}
}

func (f *facts) addPrompt(r *record) {
	if !r.speaks() || f.prompt != "" || r.says() != saysPrompt {
		return
	}
	text, command := r.promptText()
	if !f.hasPrompt {
		f.hasPrompt, f.firstPrompt = true, digestOf(text)
	}
	switch {
	case command == "":
		f.prompt = title(text)
	case f.command == "":
		f.command = title(text)
	}
}

// titles of the task, the best first, each of which less of the file could have given.
// A summary at the head of a file is most often that of another session: it counts when
// the line it sums up is here.
func (f *facts) titles() []string {
	summary, leaf := "", ""
	for of, text := range f.summaries {
		if f.seen.has(of) && (leaf == "" || of < leaf) {
			summary, leaf = text, of
		}
	}
	known := []string{f.customTitle, summary, f.aiTitle, f.prompt, f.command, noTitle}
	return slices.DeleteFunc(known, func(t string) bool { return t == "" })
}
