package history

import (
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"
)

type pageMessage struct {
	seq    int64
	role   string
	calls  []string
	callID string
}

var readPage = MessageReader[pageMessage]{
	Seq:        func(m pageMessage) int64 { return m.seq },
	Role:       func(m pageMessage) string { return m.role },
	ToolCalls:  func(m pageMessage) []string { return m.calls },
	ToolCallID: func(m pageMessage) string { return m.callID },
}

func TestPageOrder(t *testing.T) {
	user := func(seq int64) pageMessage { return pageMessage{seq: seq, role: "user"} }
	issues := func(seq int64, calls ...string) pageMessage {
		return pageMessage{seq: seq, role: "assistant", calls: calls}
	}
	answers := func(seq int64, id string) pageMessage { return pageMessage{seq: seq, role: "tool", callID: id} }
	tests := map[string]struct {
		messages []pageMessage
		want     []int64
	}{
		"none":                        {nil, nil},
		"no tools":                    {[]pageMessage{user(1), issues(2)}, []int64{1, 2}},
		"answers come late":           {[]pageMessage{issues(1, "a", "b"), user(2), answers(3, "b"), answers(4, "a")}, []int64{1, 3, 4, 2}},
		"of two issuers":              {[]pageMessage{issues(1, "a"), issues(2, "b"), answers(3, "a"), answers(4, "b")}, []int64{1, 3, 2, 4}},
		"an orphan":                   {[]pageMessage{answers(1, "x"), user(2), answers(3, "y"), issues(4)}, []int64{1, 2, 3, 4}},
		"an id used again":            {[]pageMessage{issues(1, "a"), answers(2, "a"), issues(3, "a"), user(4), answers(5, "a")}, []int64{1, 2, 3, 5, 4}},
		"issued only later":           {[]pageMessage{answers(1, "a"), user(2), issues(3, "a")}, []int64{1, 2, 3}},
		"without an id":               {[]pageMessage{issues(1, ""), user(2), answers(3, "")}, []int64{1, 2, 3}},
		"not a tool message":          {[]pageMessage{issues(1, "a"), user(2), {3, "assistant", nil, "a"}}, []int64{1, 2, 3}},
		"a tool message that issues":  {[]pageMessage{issues(1, "a"), user(2), {3, "tool", []string{"b"}, "a"}, user(4), answers(5, "b"), answers(6, "a")}, []int64{1, 3, 5, 6, 2, 4}},
		"given in another order":      {[]pageMessage{answers(3, "a"), user(2), issues(1, "a")}, []int64{1, 3, 2}},
		"a message is no own issuer":  {[]pageMessage{user(1), {2, "tool", []string{"a"}, "a"}}, []int64{1, 2}},
		"several answers of one call": {[]pageMessage{issues(1, "a"), user(2), answers(3, "a"), answers(4, "a")}, []int64{1, 3, 4, 2}},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			given := slices.Clone(test.messages)
			var got []int64
			for _, m := range PageOrder(test.messages, readPage) {
				got = append(got, m.seq)
			}
			if diff := cmp.Diff(test.want, got); diff != "" {
				t.Error(diff)
			}
			if diff := cmp.Diff(given, test.messages, cmp.AllowUnexported(pageMessage{})); diff != "" {
				t.Errorf("the argument changed: %s", diff)
			}
		})
	}
}

// Nothing is dropped, what is no answer keeps its order, and a tool message that
// left its seq stands behind its issuer with nothing but answers between.
func TestPageOrderIsPermutation(t *testing.T) {
	ids := rapid.SampledFrom([]string{"", "a", "b", "c"})
	rapid.Check(t, func(t *rapid.T) {
		messages := rapid.SliceOf(rapid.Custom(func(t *rapid.T) pageMessage {
			return pageMessage{
				role:   rapid.SampledFrom([]string{"user", "assistant", "tool"}).Draw(t, "role"),
				calls:  rapid.SliceOfN(ids, 0, 3).Draw(t, "calls"),
				callID: ids.Draw(t, "answers"),
			}
		})).Draw(t, "messages")
		for i := range messages {
			messages[i].seq = int64(i + 1)
		}
		ordered := PageOrder(messages, readPage)
		var seqs []int64
		last := int64(0)
		for i, m := range ordered {
			seqs = append(seqs, m.seq)
			if m.role != roleTool {
				if m.seq < last {
					t.Fatalf("%d stands behind %d", m.seq, last)
				}
				last = m.seq
			}
			if i > 0 && m.seq < ordered[i-1].seq && ordered[i-1].role != roleTool {
				t.Fatalf("%d moved forward past %d", ordered[i-1].seq, m.seq)
			}
		}
		slices.Sort(seqs)
		for i, seq := range seqs {
			if seq != int64(i+1) {
				t.Fatalf("%d is missing or doubled", i+1)
			}
		}
		if len(seqs) != len(messages) {
			t.Fatalf("%d of %d messages", len(seqs), len(messages))
		}
	})
}
