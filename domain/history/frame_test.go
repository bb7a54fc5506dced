package history_test

import (
	"encoding/json"
	"strings"
	"testing"
	"time"
	"unicode/utf8"

	"gatehouse/domain"
	"gatehouse/domain/history"
	"gatehouse/domain/subagent"
)

// What a frame may be: each is judged by itself, by a stable word.
func TestParseFrame(t *testing.T) {
	long := strings.Repeat("x", 513)
	huge := func(n int) string { return strings.Repeat("x", n) }
	for name, c := range map[string]struct {
		frame string
		want  history.FrameReason
	}{
		"least":                      {`{"frame":"tool_call"}`, ""},
		"nulls":                      {`{"frame":"tool_call_update","tool_call_id":null,"execution_id":null,"parent_tool_call_id":null,"turn_id":null,"title":null,"status":null,"observed_at":null,"content":null,"normalized":null,"raw":null}`, ""},
		"empty texts":                {`{"frame":"tool_call","tool_call_id":"","turn_id":"","status":"","observed_at":"","content":""}`, ""},
		"data":                       {`{"frame":"tool_call","normalized":{"kind":5,"any":[-1]},"raw":"text"}`, ""},
		"not an object":              {`[]`, history.FrameMalformed},
		"no JSON":                    {`{`, history.FrameMalformed},
		"no kind":                    {`{"tool_call_id":"c"}`, history.FrameUnknownKind},
		"another kind":               {`{"frame":"Tool_call"}`, history.FrameUnknownKind},
		"kind of another type":       {`{"frame":5}`, history.FrameMalformed},
		"unknown member":             {`{"frame":"tool_call","x":1}`, history.FrameMalformed},
		"names are exact":            {`{"frame":"tool_call","Status":"x"}`, history.FrameMalformed},
		"status of another type":     {`{"frame":"tool_call","status":5}`, history.FrameMalformed},
		"content of another type":    {`{"frame":"tool_call","content":[]}`, history.FrameMalformed},
		"long call":                  {`{"frame":"tool_call","tool_call_id":"` + long + `"}`, history.FrameTooLong},
		"longest call":               {`{"frame":"tool_call","tool_call_id":"` + long[1:] + `"}`, ""},
		"long execution":             {`{"frame":"tool_call","execution_id":"` + long + `"}`, history.FrameTooLong},
		"long parent":                {`{"frame":"tool_call","parent_tool_call_id":"` + long + `"}`, history.FrameTooLong},
		"long title":                 {`{"frame":"tool_call","title":"` + long[:501] + `"}`, history.FrameTooLong},
		"long status":                {`{"frame":"tool_call","status":"` + long[:501] + `"}`, history.FrameTooLong},
		"large content":              {`{"frame":"tool_call","content":"` + huge(4<<20+1) + `"}`, history.FrameTooLarge},
		"largest content":            {`{"frame":"tool_call","content":"` + huge(4<<20) + `"}`, ""},
		"large raw":                  {`{"frame":"tool_call","raw":"` + huge(4<<20-1) + `"}`, history.FrameTooLarge},
		"largest raw":                {`{"frame":"tool_call","raw":"` + huge(4<<20-2) + `"}`, ""},
		"large normalized":           {`{"frame":"tool_call","normalized":"` + huge(4<<20-1) + `"}`, history.FrameTooLarge},
		"numbers that spread":        {`{"frame":"tool_call","raw":[` + strings.Repeat("1e300,", 300) + `0]}`, history.FrameTooLarge},
		"numbers that spread little": {`{"frame":"tool_call","raw":[` + strings.Repeat("1e300,", 200) + `0]}`, ""},
		"U+0000 in an id":            {`{"frame":"tool_call","execution_id":"\u0000"}`, history.FrameNULInID},
		"U+0000 elsewhere":           {`{"frame":"tool_call","status":"\u0000","raw":{"\u0000":1}}`, ""},
		"no time":                    {`{"frame":"tool_call","observed_at":"yesterday"}`, history.FrameBadTime},
		"time out of range":          {`{"frame":"tool_call","observed_at":"0000-01-01T00:00:00Z"}`, history.FrameBadTime},
		"time of another type":       {`{"frame":"tool_call","observed_at":0}`, history.FrameMalformed},
		"turn that is no id":         {`{"frame":"tool_call","turn_id":"turn-1"}`, history.FrameTurnNotFound},
		"number beyond every float":  {`{"frame":"tool_call","raw":1e400}`, history.FrameUnstorable},
		"number of very many digits": {`{"frame":"tool_call","normalized":` + strings.Repeat("1", 100_001) + `}`, history.FrameUnstorable},
	} {
		t.Run(name, func(t *testing.T) {
			if _, got := history.ParseFrame([]byte(c.frame)); got != c.want {
				t.Errorf("%q, want %q", got, c.want)
			}
		})
	}
}

// HI-9: a replay is told by what a frame says, not by how it is written.
func TestFrameFingerprint(t *testing.T) {
	of := func(frame string) string {
		f, wrong := history.ParseFrame([]byte(frame))
		if wrong != "" {
			t.Fatalf("%s: %s", frame, wrong)
		}
		return f.Fingerprint
	}
	first := of(`{"frame":"tool_call","tool_call_id":"c","raw":{"a":1,"b":2.50},"observed_at":"2031-03-04T05:06:07Z"}`)
	for _, same := range []string{
		`{ "raw": {"b": 2.5, "a": 1}, "observed_at": "2031-03-04T06:06:07+01:00", "tool_call_id": "\u0063", "frame": "tool_call" }`,
		`{"frame":"tool_call","tool_call_id":"c","title":null,"status":"","raw":{"a":1,"b":2.5},"observed_at":"2031-03-04T05:06:07.000000Z"}`,
	} {
		if of(same) != first {
			t.Errorf("%s is another frame", same)
		}
	}
	for _, other := range []string{
		`{"frame":"tool_call_update","tool_call_id":"c","raw":{"a":1,"b":2.5},"observed_at":"2031-03-04T05:06:07Z"}`,
		`{"frame":"tool_call","tool_call_id":"c","raw":{"a":1,"b":2.5}}`,
		`{"frame":"tool_call","tool_call_id":"c","normalized":{"a":1,"b":2.5},"observed_at":"2031-03-04T05:06:07Z"}`,
	} {
		if of(other) == first {
			t.Errorf("%s is the same frame", other)
		}
	}
}

// FuzzFrame: whatever a frame is, it is read or named, never half of each, and what is
// read can be stored and is told again as the same.
func FuzzFrame(f *testing.F) {
	for _, seed := range []string{
		`{"frame":"tool_call","tool_call_id":"c","execution_id":"e","turn_id":"00000000-0000-7000-8000-000000000000","title":"t","status":"completed","observed_at":"2031-03-04T05:06:07.123456789+02:00","content":"a\u0000","raw":[1,{"\u0000":-0.0}]}`,
		`{"frame":"tool_call_update","normalized":{"kind":"subagent_task","subagent_task":{"total_tokens":-1e3,"is_async":1,"model":null}}}`,
		`{"frame":"tool_call","frame":5}`, `[]`, "\xff", `{"frame":"tool_call","raw":1e999}`,
	} {
		f.Add([]byte(seed))
	}
	f.Fuzz(func(t *testing.T, raw []byte) {
		frame, wrong := history.ParseFrame(raw)
		if wrong != "" {
			if frame.Kind != "" || frame.Fingerprint != "" {
				t.Fatalf("%s, and %+v", wrong, frame)
			}
			return
		}
		again, wrong := history.ParseFrame(raw)
		if wrong != "" || again.Fingerprint != frame.Fingerprint {
			t.Fatalf("told again it is %s %+v", wrong, again)
		}
		for _, text := range []string{frame.ToolCallID, frame.ExecutionID, frame.ParentToolCallID, frame.Title, frame.Status, frame.Content} {
			if domain.HasNUL(text) || !utf8.ValidString(text) {
				t.Fatalf("text is %q", text)
			}
		}
		normalized, err := domain.EncodeCanonical(frame.Normalized)
		if err != nil || !json.Valid(normalized) || frame.Raw != nil && !json.Valid(frame.Raw) {
			t.Fatalf("normalized is %q, raw %q, %v", normalized, frame.Raw, err)
		}
		if frame.ObservedAt != nil && (!domain.Storable(*frame.ObservedAt) || frame.ObservedAt.Location() != time.UTC) {
			t.Fatalf("observed at %v", frame.ObservedAt)
		}
		if _, ok := subagent.PayloadOf(frame.Normalized); ok && !subagent.IsTask(frame.Normalized) {
			t.Fatal("a payload of what is no task")
		}
	})
}
