package claudecode

import (
	"strings"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"gatehouse/domain"
	"gatehouse/domain/history"
)

// edit is what is known of a call that changes a file: from the detail of its
// result, else from its arguments. The patch that a detail holds is display text
// and not read.
type edit struct {
	path       string
	fragments  []history.Fragment
	replaceAll []bool
	original   *string // the whole text before
	content    *string // the whole text after, of Write
	created    bool    // the result says that the file is new
}

// editDetail is the detail of a result of Edit, Write and MultiEdit.
type editDetail struct {
	Type         string     `json:"type"`
	Path         string     `json:"filePath"`
	Content      *string    `json:"content"`
	OldString    string     `json:"oldString"`
	NewString    string     `json:"newString"`
	ReplaceAll   bool       `json:"replaceAll"`
	OriginalFile *string    `json:"originalFile"`
	Originals    *string    `json:"originalFileContents"`
	Edits        []editStep `json:"edits"`
}

// editInput is what Edit, Write and MultiEdit are called with.
type editInput struct {
	Path    string     `json:"file_path"`
	Content *string    `json:"content"`
	Edits   []editStep `json:"edits"`
	editStep
}

type editStep struct {
	OldString  string `json:"old_string"`
	NewString  string `json:"new_string"`
	ReplaceAll bool   `json:"replace_all"`
}

// edits names the tools that change files.
var edits = map[string]bool{"Edit": true, "Write": true, "MultiEdit": true}

// editOf reads a successful call. Only its result tells that it was successful.
func editOf(tool string, input jsontext.Value, res toolResult) (edit, bool) {
	var in editInput
	if !edits[tool] || json.Unmarshal(input, &in, lenient) != nil {
		return edit{}, false
	}
	e := edit{path: in.Path, content: in.Content}
	steps := in.Edits
	if tool == "Edit" {
		steps = []editStep{in.editStep}
	}
	switch res.detail.Kind() {
	case '{':
		var d editDetail
		if res.failed() || json.Unmarshal(res.detail, &d, lenient) != nil || d.Path == "" {
			return edit{}, false
		}
		e = edit{path: d.Path, content: d.Content, original: d.OriginalFile, created: d.Type == "create"}
		switch tool {
		case "Edit":
			steps = []editStep{{d.OldString, d.NewString, d.ReplaceAll}}
		case "MultiEdit":
			e.original, steps = d.Originals, d.Edits
		}
	default:
		var says bool
		if says, e.created = res.saysEdited(); !says {
			return edit{}, false
		}
	}
	for _, s := range steps {
		e.fragments = append(e.fragments, history.Fragment{Before: s.OldString, After: s.NewString})
		e.replaceAll = append(e.replaceAll, s.ReplaceAll)
	}
	return e, e.path != "" && len(e.path) <= domain.MaxPath && !domain.HasNUL(e.path) && (tool != "Write" || e.content != nil)
}

// saysEdited reports whether the text of a result says that a file was changed, and
// whether it is new.
func (res toolResult) saysEdited() (edited, created bool) {
	text := res.text()
	if res.failed() || strings.Contains(text, "<tool_use_error>") {
		return false, false
	}
	start := clip(text, 4<<10)
	created = strings.HasPrefix(start, "File created successfully")
	return created ||
		strings.HasPrefix(start, "The file ") && strings.Contains(start, "updated") ||
		strings.HasPrefix(start, "Applied "), created
}

// apply returns text with the steps of e, and whether each found its place.
func (e edit) apply(text string) (string, bool) {
	for i, f := range e.fragments {
		switch {
		case f.Before == "" && text == "":
			text = f.After
		case f.Before == "" || !strings.Contains(text, f.Before):
			return "", false
		case e.replaceAll[i]:
			text = strings.ReplaceAll(text, f.Before, f.After)
		default:
			text = strings.Replace(text, f.Before, f.After, 1)
		}
	}
	return text, true
}
