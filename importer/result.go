package importer

import "gatehouse/importer/claudecode"

// Result is what an import found and what of it was new (HI-33).
type Result struct {
	*claudecode.Summary // what the transcripts hold

	Added Added `json:"added"`

	refused bool
}

// Added counts what was not there before.
type Added struct {
	Files       int `json:"files"` // that anything came from
	Tasks       int `json:"tasks"`
	Sessions    int `json:"sessions"`
	Messages    int `json:"messages"`
	FileChanges int `json:"file_changes"`
	Executions  int `json:"executions"`
	Subagents   int `json:"subagents"`
}

// NewResult returns the result of nothing, ready to count.
func NewResult() *Result { return &Result{Summary: claudecode.NewSummary()} }

// Complete reports whether everything went in that could be read. A bad line does not
// count against it (HI-31); a file that the system did not let be read does, and
// what the domain refused.
func (r *Result) Complete() bool {
	return !r.refused && r.Skipped[claudecode.ReasonUnreadable] == 0
}

// refuse notes that something did not go in.
func (r *Result) refuse(p claudecode.Problem) {
	r.refused = true
	r.Report(p.File, p.Line, p.Reason)
}

// add counts what w wrote and what it could not.
func (r *Result) add(w *writer) {
	a, b := &r.Added, w.added
	a.Files, a.Tasks, a.Sessions, a.Messages = a.Files+b.Files, a.Tasks+b.Tasks, a.Sessions+b.Sessions, a.Messages+b.Messages
	a.FileChanges, a.Executions, a.Subagents = a.FileChanges+b.FileChanges, a.Executions+b.Executions, a.Subagents+b.Subagents
	for _, p := range w.refused {
		r.refuse(p)
	}
}
