package history

import (
	"cmp"
	"slices"
)

// roleTool is the role of a message that answers a tool call.
const roleTool = "tool"

// MessageReader tells [PageOrder] what it has to know of a message.
type MessageReader[M any] struct {
	Seq        func(M) int64
	Role       func(M) string
	ToolCalls  func(M) []string // ids of the calls it issued
	ToolCallID func(M) string   // of the call it answers; empty for none
}

// PageOrder returns messages in the order of a page: ascending seq, except that
// tool messages sit directly behind the message that issued their call, ascending
// among themselves. An id that was used again means the newest call before the
// answer. A tool message whose call is not on the page stays at its seq; nothing is
// dropped, and the argument is left alone.
func PageOrder[M any](messages []M, read MessageReader[M]) []M {
	sorted := slices.Clone(messages)
	slices.SortStableFunc(sorted, func(a, b M) int { return cmp.Compare(read.Seq(a), read.Seq(b)) })

	issuer := map[string]int{}           // of each call so far
	behind := make([][]int, len(sorted)) // tool messages behind each message
	var top []int
	for i, m := range sorted {
		if at, known := issuer[read.ToolCallID(m)]; known && read.Role(m) == roleTool {
			behind[at] = append(behind[at], i)
		} else {
			top = append(top, i)
		}
		for _, id := range read.ToolCalls(m) {
			if id != "" {
				issuer[id] = i
			}
		}
	}

	ordered := make([]M, 0, len(sorted))
	for pending := reversed(top); len(pending) > 0; {
		i := pending[len(pending)-1]
		pending = append(pending[:len(pending)-1], reversed(behind[i])...)
		ordered = append(ordered, sorted[i])
	}
	return ordered
}

func reversed(indexes []int) []int {
	turned := slices.Clone(indexes)
	slices.Reverse(turned)
	return turned
}
