package claudecode

import (
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// HI-31: no line stops the reading; each bad one is counted and named.
func TestBadLines(t *testing.T) {
	s := &script{}
	good, more := s.prompt("one").String(), s.says("m1", "two").String()
	for name, c := range map[string]struct {
		text     string
		messages int
		skipped  map[Reason]int
		line     int // of the first problem
	}{
		"no final newline":       {good + "\n" + more, 2, skips(), 0},
		"blank lines":            {"\n" + good + "\r\n\n" + more + "\n \n", 2, skips(), 0},
		"two on a line":          {good + more + "\n", 2, skips(), 0},
		"two on a line, apart":   {good + "  " + more + " \n", 2, skips(), 0},
		"torn at the end":        {good + "\n" + more[:len(more)/2], 1, skips(ReasonTorn), 2},
		"torn in the middle":     {good[:len(good)/2] + "\n" + more + "\n", 1, skips(ReasonTorn), 1},
		"torn with one behind":   {good[:len(good)/2] + more + "\n", 1, skips(ReasonTorn), 1},
		"good with a torn one":   {good + more[:20] + "\n", 1, skips(ReasonTorn), 1},
		"no JSON":                {"hello\n" + good + "\n", 1, skips(ReasonMalformed), 1},
		"NUL":                    {"\x00\x00\n" + good + "\n", 1, skips(ReasonMalformed), 1},
		"no object":              {"[1]\n3\n\"x\"\nnull\n" + good + "\n", 1, skips(ReasonNoObject, ReasonNoObject, ReasonNoObject, ReasonNoObject), 1},
		"unknown type":           {good + "\n" + `{"type":"telepathy"}` + "\n{}\n", 1, skips(ReasonUnknownType, ReasonUnknownType), 2},
		"other shape":            {good + "\n" + `{"type":5}` + "\n" + `{"type":"user"}` + "\n", 1, skips(ReasonShape, ReasonShape), 2},
		"invalid UTF-8 repaired": {strings.Replace(good, "one", "o\xffe", 1) + "\n", 1, skips(ReasonUTF8), 1},
		"byte order mark":        {"\uFEFF" + good + "\n" + more + "\n", 2, skips(), 0},
		"mark in the middle":     {good + "\n\uFEFF" + more + "\n", 2, skips(ReasonTorn), 2},
		"other white space":      {"\u00A0\u2003" + good + "\u00A0\n\u0085" + more + "\n", 2, skips(), 0},
		"carriage returns":       {good + "\r\n" + more + "\r\n", 2, skips(), 0},
		"only a line end":        {"\n", 0, skips(ReasonNoSession), 0},
		"binary":                 {"\x7fELF\x02\x01\x01\x00\xff\xfe\n\x00\n" + good + "\n", 1, skips(ReasonUTF8, ReasonMalformed, ReasonMalformed), 1},
		"UTF-16":                 {"\xff\xfe{\x00\"\x00", 0, skips(ReasonUTF8, ReasonMalformed, ReasonNoSession), 1},
		"nothing":                {"", 0, skips(ReasonNoSession), 0},
		"no conversation":        {`{"type":"summary","summary":"x","leafUuid":"y"}`, 0, skips(ReasonNoSession), 0},
	} {
		t.Run(name, func(t *testing.T) {
			r, summary := readText(t, c.text)
			if len(r.messages) != c.messages {
				t.Errorf("%d messages, want %d", len(r.messages), c.messages)
			}
			if diff := cmp.Diff(c.skipped, summary.Skipped); diff != "" {
				t.Errorf("skipped (-want +got):\n%s", diff)
			}
			if len(summary.Problems) > 0 && summary.Problems[0].Line != c.line {
				t.Errorf("first problem %+v, want line %d", summary.Problems[0], c.line)
			}
		})
	}
}

// HI-31: lines over 1 MiB are read whole, and those beyond all measure passed over.
func TestLongLines(t *testing.T) {
	s := &script{}
	long := strings.Repeat("long ", 500_000)
	r, summary := readText(t, text(s.prompt("one"), s.says("m1", long), s.says("m2", "two")))
	if len(r.messages) != 3 || r.messages[1].Content != long {
		t.Errorf("%d messages, want 3, the second whole", len(r.messages))
	}
	if len(summary.Problems) > 0 {
		t.Errorf("problems %v, want none", summary.Problems)
	}

	found, err := Discover([]string{write(t, map[string]string{"a.jsonl": text(s.prompt("one"), s.says("m1", long), s.says("m2", "two"))})})
	if err != nil {
		t.Fatal(err)
	}
	r, summary = newRecorder(t), NewSummary()
	bounded := &reader{sink: counter{r, summary}, summary: summary, progress: func(int64) {}, open: openFile, limit: 1 << 20}
	if err := read(t.Context(), found[0], bounded); err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff([]Problem{{found[0].Path, 2, ReasonTooLong}}, summary.Problems); diff != "" {
		t.Errorf("problems (-want +got):\n%s", diff)
	}
	if len(r.messages) != 2 {
		t.Errorf("%d messages, want the 2 others", len(r.messages))
	}
}

// HI-31: problems are counted without bound and named up to one.
func TestManyProblems(t *testing.T) {
	_, summary := readText(t, strings.Repeat("x\n", MaxProblems+5))
	if len(summary.Problems) != MaxProblems || summary.Skipped[ReasonMalformed] != MaxProblems+5 {
		t.Errorf("%d problems named, %v counted", len(summary.Problems), summary.Skipped)
	}
}

// A block of a shape nobody expects does not spoil the others of its message.
func TestBadBlock(t *testing.T) {
	s := &script{}
	mixed := s.line("user", entry{"content": []any{entry{"type": "text", "text": "one"}, entry{"type": 5}, "x", entry{"type": "text", "text": "two"}}})
	none := s.line("user", entry{"content": 7})
	r, summary := readText(t, text(mixed, none))
	if len(r.messages) != 1 || r.messages[0].Content != "one\n\ntwo" {
		t.Errorf("messages %+v, want one with both texts", r.messages)
	}
	if len(summary.Problems) > 0 {
		t.Errorf("problems %v, want none", summary.Problems)
	}
}

// HI-31: line ends of another system, space of any kind around lines, and the mark that
// some editors begin a file with change nothing of what a real session holds.
func TestOtherLineEnds(t *testing.T) {
	for _, name := range []string{"inline-sidechain/task_non_sdk.jsonl", "async-agents/10e13fce67.jsonl"} {
		text, err := os.ReadFile(filepath.Join(samples, name))
		if err != nil {
			t.Fatal(err)
		}
		want, _ := readFiles(t, map[string]string{"a.jsonl": string(text)})
		got, summary := readFiles(t, map[string]string{"a.jsonl": "\uFEFF" + strings.ReplaceAll(string(text), "\n", "\r\n\u00A0")})
		if diff := cmp.Diff(want.messages, got.messages, anywhere); diff != "" || len(summary.Problems) > 0 {
			t.Errorf("%s: problems %v, messages (-want +got):\n%s", name, summary.Problems, diff)
		}
	}
}

// HI-31: whatever bytes a file holds, every one of them is read and it ends.
func TestBinaryFile(t *testing.T) {
	random, s := rand.New(rand.NewPCG(1, 2)), &script{}
	junk := make([]byte, 1<<20)
	for i := range junk {
		junk[i] = byte(random.Uint32())
	}
	r, summary := readText(t, string(junk)+"\n"+text(s.prompt("one")))
	if len(r.messages) != 1 || summary.Skipped[ReasonMalformed]+summary.Skipped[ReasonTorn]+summary.Skipped[ReasonNoObject] < 1000 {
		t.Errorf("%d messages, skipped %v", len(r.messages), summary.Skipped)
	}
	if _, summary := readText(t, string(junk)); summary.Skipped[ReasonNoSession] != 1 {
		t.Errorf("skipped %v, want a file without a conversation", summary.Skipped)
	}
}
