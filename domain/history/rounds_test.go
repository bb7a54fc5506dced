package history

import (
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"
)

func TestRounds(t *testing.T) {
	tests := map[string]struct {
		messages []RoundMark
		want     []Round
	}{
		"none": {nil, nil},
		"before the first user message": {
			[]RoundMark{{1, "system"}, {3, "assistant"}},
			[]Round{{FirstSeq: 1, LastSeq: 3, Messages: 2}},
		},
		"round 0 and two more": {
			[]RoundMark{{1, "system"}, {2, "user"}, {3, "assistant"}, {5, "tool"}, {8, "user"}},
			[]Round{{1, 1, nil, 1}, {2, 5, new(int64(2)), 3}, {8, 8, new(int64(8)), 1}},
		},
		"user messages in a row": {
			[]RoundMark{{4, "user"}, {5, "user"}},
			[]Round{{4, 4, new(int64(4)), 1}, {5, 5, new(int64(5)), 1}},
		},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			if diff := cmp.Diff(test.want, Rounds(test.messages)); diff != "" {
				t.Error(diff)
			}
		})
	}
}

// Every message is in one round and every user message opens one.
func TestRoundsLoseNothing(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		roles := rapid.SliceOf(rapid.SampledFrom([]string{"user", "assistant", "tool", "system"})).Draw(t, "roles")
		messages, users := make([]RoundMark, len(roles)), 0
		for i, role := range roles {
			messages[i] = RoundMark{int64(i + 1), role}
			if role == roleUser {
				users++
			}
		}
		next := int64(1)
		for _, r := range Rounds(messages) {
			if r.FirstSeq != next || r.LastSeq != next+int64(r.Messages)-1 {
				t.Fatalf("round %+v does not begin at %d", r, next)
			}
			if r.UserSeq != nil {
				users--
			}
			next = r.LastSeq + 1
		}
		if next != int64(len(roles)+1) || users != 0 {
			t.Fatalf("%d messages are in no round, %d user messages open none", int64(len(roles)+1)-next, users)
		}
	})
}
