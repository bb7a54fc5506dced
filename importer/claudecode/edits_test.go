package claudecode

import (
	"maps"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// HI-32: what each kind of call and result makes of the knowledge there is.
func TestFileChanges(t *testing.T) {
	edit := entry{"file_path": "/w/a", "old_string": "two", "new_string": "2"}
	updated := "The file /w/a has been updated successfully."
	detail := func(with entry) entry {
		d := entry{"filePath": "/w/a", "oldString": "two", "newString": "2", "originalFile": "one\ntwo\ntwo\n", "structuredPatch": []int{}}
		maps.Copy(d, with)
		return d
	}
	snapshot := func(before, after string) FileChange {
		return FileChange{Path: "/w/a", ChangeType: Modified, Before: &before, After: &after, ToolCallID: "c1"}
	}
	created := func(after string) FileChange {
		return FileChange{Path: "/w/a", ChangeType: Created, After: &after, ToolCallID: "c1"}
	}
	patched := func(patch string, added, deleted int64) FileChange {
		return FileChange{Path: "/w/a", ChangeType: Modified, Patch: &patch, LinesAdded: &added, LinesDeleted: &deleted, ToolCallID: "c1"}
	}
	fragment := "--- /w/a\n+++ /w/a\n@@ -1 +1 @@\n-two\n+2\n"
	uncounted := patched(fragment, 1, 1)
	uncounted.LinesAdded, uncounted.LinesDeleted = nil, nil
	afterOnly := snapshot("", "x\ny")
	afterOnly.Before = nil

	for name, c := range map[string]struct {
		tool   string
		input  entry
		text   string
		detail any
		want   []FileChange
	}{
		"edit":                     {"Edit", edit, updated, detail(nil), []FileChange{snapshot("one\ntwo\ntwo\n", "one\n2\ntwo\n")}},
		"edit of all":              {"Edit", edit, updated, detail(entry{"replaceAll": true}), []FileChange{snapshot("one\ntwo\ntwo\n", "one\n2\n2\n")}},
		"edit a person modified":   {"Edit", edit, updated, detail(entry{"newString": "zwei"}), []FileChange{snapshot("one\ntwo\ntwo\n", "one\nzwei\ntwo\n")}},
		"edit without original":    {"Edit", edit, updated, detail(entry{"originalFile": nil}), []FileChange{patched(fragment, 1, 1)}},
		"edit of another text":     {"Edit", edit, updated, detail(entry{"originalFile": "three"}), []FileChange{patched(fragment, 1, 1)}},
		"edit that makes the file": {"Edit", edit, updated, detail(entry{"originalFile": "", "oldString": ""}), []FileChange{created("2")}},
		"edit by a subagent":       {"Edit", edit, updated, nil, []FileChange{patched(fragment, 1, 1)}},
		"edit of all by a subagent": {
			"Edit",
			entry{"file_path": "/w/a", "old_string": "two", "new_string": "2", "replace_all": true},
			updated, nil,
			[]FileChange{uncounted},
		},
		"failed edit":                   {"Edit", edit, "File has not been read yet", "Error: File has not been read yet", nil},
		"rejected edit":                 {"Edit", edit, "rejected", "Error: The user doesn't want to proceed with this tool use.", nil},
		"failed edit by a subagent":     {"Edit", edit, "<tool_use_error>not found</tool_use_error>", nil, nil},
		"unclear edit by a subagent":    {"Edit", edit, "hm", nil, nil},
		"write of a new file":           {"Write", entry{"file_path": "/w/a", "content": "x\n"}, "ok", entry{"type": "create", "filePath": "/w/a", "content": "x\n"}, []FileChange{created("x\n")}},
		"write over a file":             {"Write", entry{"file_path": "/w/a", "content": "x\n"}, "ok", entry{"type": "update", "filePath": "/w/a", "content": "x\n", "originalFile": "w\n"}, []FileChange{snapshot("w\n", "x\n")}},
		"write over an unknown file":    {"Write", entry{"file_path": "/w/a", "content": "x\ny"}, updated, nil, []FileChange{afterOnly}},
		"write of a subagent's file":    {"Write", entry{"file_path": "/w/a", "content": "x\n"}, "File created successfully at: /w/a", nil, []FileChange{created("x\n")}},
		"write without content":         {"Write", entry{"file_path": "/w/a"}, updated, nil, nil},
		"several edits":                 {"MultiEdit", entry{"file_path": "/w/a"}, "ok", entry{"filePath": "/w/a", "originalFileContents": "a b\n", "edits": []entry{{"old_string": "a", "new_string": "1"}, {"old_string": "1 b", "new_string": "2"}}}, []FileChange{snapshot("a b\n", "2\n")}},
		"several edits by a subagent":   {"MultiEdit", entry{"file_path": "/w/a", "edits": []entry{{"old_string": "two", "new_string": "2"}}}, "Applied 1 edit to /w/a:", nil, []FileChange{patched(fragment, 1, 1)}},
		"a tool that changes no files":  {"Bash", entry{"command": "rm /w/a"}, updated, nil, nil},
		"arguments of an unknown shape": {"Edit", entry{"file_path": 7}, updated, nil, nil},
	} {
		t.Run(name, func(t *testing.T) {
			s := &script{}
			r, _ := readText(t, text(s.prompt("go"), s.calls("m1", "c1", c.tool, c.input), s.answers("c1", c.text, c.detail)))
			if diff := cmp.Diff(c.want, r.messages[1].FileChanges); diff != "" {
				t.Errorf("changes (-want +got):\n%s", diff)
			}
		})
	}
}

// HI-32: a subagent that goes over a file is compared with what the task is known
// to have written there last, an edit in between included.
func TestOverwriteOfKnownText(t *testing.T) {
	s := &script{}
	r, _ := readText(t, text(
		s.prompt("go"),
		s.calls("m1", "c1", "Write", entry{"file_path": "/w/a", "content": "one\ntwo\n"}), s.answers("c1", "File created successfully at: /w/a", nil),
		s.calls("m2", "c2", "Edit", entry{"file_path": "/w/a", "old_string": "two", "new_string": "2"}), s.answers("c2", "The file /w/a has been updated.", nil),
		s.calls("m3", "c3", "Write", entry{"file_path": "/w/a", "content": "three\n"}), s.answers("c3", "The file /w/a has been updated.", nil),
		s.calls("m4", "c4", "Edit", entry{"file_path": "/w/a", "old_string": "gone", "new_string": ""}), s.answers("c4", "The file /w/a has been updated.", nil),
		s.calls("m5", "c5", "Write", entry{"file_path": "/w/a", "content": "four\n"}), s.answers("c5", "The file /w/a has been updated.", nil),
	))
	over := r.messages[5].FileChanges[0]
	if over.Before == nil || *over.Before != "one\n2\n" || *over.After != "three\n" || over.ChangeType != Modified {
		t.Errorf("first overwrite %+v, want a snapshot of what was there", over)
	}
	if blind := r.messages[9].FileChanges[0]; blind.Before != nil || blind.Patch != nil || *blind.After != "four\n" {
		t.Errorf("second overwrite %+v, want the text after alone: that in between is not known", blind)
	}
}

// What is remembered of files is bounded; the oldest goes first.
func TestKnownTextsAreBounded(t *testing.T) {
	k := newKnownTexts(10)
	k.set("a", "12345")
	k.set("b", "12345")
	k.set("a", "123")
	k.set("c", "1234")
	if _, ok := k.get("b"); ok || k.size != 7 {
		t.Errorf("b is known %v, %d bytes, want it gone and 7", ok, k.size)
	}
	k.set("d", strings.Repeat("x", 11))
	if len(k.byKey) != 0 || k.size != 0 || k.order.Len() != 0 {
		t.Errorf("%d texts of %d bytes, want none", len(k.byKey), k.size)
	}
}

// Of an id that calls share each call has its own result, and each change is told once,
// on the message that made it (HI-6).
func TestReusedCallIDOfEdits(t *testing.T) {
	s := &script{}
	write := func(path string) entry { return entry{"file_path": path, "content": "x\n"} }
	wrote := func(path string) entry { return entry{"type": "create", "filePath": path, "content": "x\n"} }
	r, _ := readText(t, text(
		s.prompt("go"),
		s.calls("m1", "call_0", "Write", write("/w/a")), s.calls("m1", "call_0", "Write", write("/w/a")), s.answers("call_0", "ok", wrote("/w/a")),
		s.calls("m2", "call_0", "Write", write("/w/b")), s.answers("call_0", "ok", wrote("/w/b")),
		s.calls("m3", "call_0", "Write", write("/w/c")), s.answers("call_0", "Error", "Error: it broke"),
		s.calls("m4", "call_0", "Task", task("left")), s.answers("call_0", "done", answered("a1")),
	))
	var got []string
	for _, m := range r.messages {
		for _, c := range m.FileChanges {
			got = append(got, m.ToolCalls[0].Arguments[:22]+" "+c.Path)
		}
	}
	if diff := cmp.Diff([]string{`{"content":"x\n","file /w/a`, `{"content":"x\n","file /w/b`}, got); diff != "" {
		t.Errorf("changes (-want +got):\n%s", diff)
	}
	if len(r.starts) != 1 {
		t.Errorf("%d runs, want 1", len(r.starts))
	}
}
