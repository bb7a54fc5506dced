package claudecode

import (
	"regexp"
	"strings"

	"gatehouse/domain"
)

// saying is what a user line says. Most were not typed by a person.
type saying int

// What user lines say.
const (
	saysNothing      saying = iota
	saysPrompt              // a person, or the parent of a subagent
	saysResult              // what tools answered
	saysMeta                // text of the program: caveats, bodies of skills
	saysNotification        // background work ended
	saysSummary             // the conversation so far, after it was compacted
	saysInterrupt           // a person stopped the agent
	saysOutput              // what a command of the person printed
)

// notice names a saying that is a notice, for its metadata.
func (s saying) notice() string {
	switch s {
	case saysMeta:
		return "meta"
	case saysNotification:
		return "notification"
	case saysSummary:
		return "compact_summary"
	case saysInterrupt:
		return "interrupt"
	default:
		return "command_output"
	}
}

// openings tells sayings by how their text begins.
var openings = []struct {
	text string
	says saying
}{
	{"<task-notification>", saysNotification},
	{"<agent-notification>", saysNotification},
	{"[Request interrupted by user", saysInterrupt},
	{"<local-command-stdout>", saysOutput},
	{"<local-command-stderr>", saysOutput},
	{"<local-command-caveat>", saysMeta},
	{"<bash-stdout>", saysOutput},
	{"<bash-stderr>", saysOutput},
}

// says tells what a user line says.
func (r *record) says() saying {
	blocks := r.content()
	for _, b := range blocks {
		if b.Type == blockResult {
			return saysResult
		}
	}
	text := strings.TrimLeft(plainText(blocks), " \r\n\t")
	switch {
	case text == "":
		return saysNothing
	case r.IsCompactSummary:
		return saysSummary
	}
	for _, o := range openings {
		if strings.HasPrefix(text, o.text) {
			return o.says
		}
	}
	if r.IsMeta {
		return saysMeta
	}
	return saysPrompt
}

// promptText returns what a person typed: a command of the program as it is typed.
func (r *record) promptText() (text, command string) {
	text = plainText(r.content())
	trimmed := strings.TrimSpace(text)
	if strings.HasPrefix(trimmed, "<command-name>") || strings.HasPrefix(trimmed, "<command-message>") {
		if command = strings.TrimSpace(tag(trimmed, "command-name")); command != "" {
			return strings.TrimSpace(command + " " + strings.TrimSpace(tag(trimmed, "command-args"))), command
		}
	}
	if strings.HasPrefix(trimmed, "<bash-input>") {
		return "! " + strings.TrimSpace(tag(trimmed, "bash-input")), "!"
	}
	return text, ""
}

// tag returns the text between the first <name> and the </name> behind it.
func tag(text, name string) string {
	_, rest, found := strings.Cut(text, "<"+name+">")
	if !found {
		return ""
	}
	inner, _, found := strings.Cut(rest, "</"+name+">")
	if !found {
		return ""
	}
	return inner
}

// titleLength is how much of the first prompt becomes a title, in characters.
const titleLength = 100

var whiteSpace = regexp.MustCompile(`\s+`)

// title makes one line of text that fits a title, or another short text.
func title(text string) string {
	if len(text) > domain.MaxPath { // a prompt may be long; its start will do
		text = clip(text, domain.MaxPath)
	}
	text, _ = domain.ReplaceNUL(text)
	text = strings.TrimSpace(whiteSpace.ReplaceAllString(text, " "))
	if runes := []rune(text); len(runes) > titleLength {
		text = strings.TrimSpace(string(runes[:titleLength-1])) + "…"
	}
	return clip(text, domain.MaxShortText)
}

// clip cuts text to at most limit bytes, between characters.
func clip(text string, limit int) string {
	if len(text) <= limit {
		return text
	}
	return strings.ToValidUTF8(text[:limit], "")
}
