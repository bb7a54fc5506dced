package history

import (
	"slices"
	"sort"
	"strings"

	"github.com/aymanbagabas/go-udiff/lcs"
)

// The diff library gives up after some hundred differences and calls the rest of
// the text replaced, which would miscount every larger change. So where its answer
// may not be the smallest, the texts are first split at the lines that stand once
// in each, and the pieces are compared again.

// exactDiffs is the number of differing lines up to which the library's answer is
// known to be the smallest: it searches fifty steps from either end.
const exactDiffs = 90

// matcher pairs equal lines of two texts, each line a number. Lines that only one
// text has are left out: they match nothing.
type matcher struct {
	a, b   []rune
	pair   []int // for each line of a, its line of b, or -1
	work   int   // lines that may still be looked at; bounds the time
	seenA  []int // by number: how often in the part at hand
	seenB  []int
	placeB []int
}

// span is a part of both texts, in lines.
type span struct{ a0, a1, b0, b1 int }

func (s span) size() int { return s.a1 - s.a0 + s.b1 - s.b0 }

// text is one text, cut into lines.
type text struct {
	lines []rune // numbers: equal lines, equal numbers
	ends  []int  // byte behind each line
}

// matchLines returns the edits that lead from before to after, neither of them
// empty.
func matchLines(before, after string) []edit {
	numbers := map[string]rune{}
	a, b := number(before, numbers), number(after, numbers)
	keptA, keptB := shared(a.lines, b.lines, len(numbers)), shared(b.lines, a.lines, len(numbers))
	m := newMatcher(pick(a.lines, keptA), pick(b.lines, keptB), len(numbers))
	m.match()

	var edits []edit
	x, y := 0, 0 // lines that are dealt with
	add := func(toX, toY int) {
		if x < toX || y < toY {
			edits = append(edits, edit{
				a.start(x), a.start(toX), b.start(y), b.start(toY), x, y, toX - x, toY - y,
			})
		}
	}
	for i, j := range m.pair {
		if j >= 0 {
			add(keptA[i], keptB[j])
			x, y = keptA[i]+1, keptB[j]+1
		}
	}
	add(len(a.lines), len(b.lines))
	return edits
}

// number cuts s into lines and numbers them through the table.
func number(s string, numbers map[string]rune) text {
	var t text
	end := 0
	for line := range strings.Lines(s) {
		n, known := numbers[line]
		if !known {
			n = rune(len(numbers)) //nolint:gosec // at most maxDiffLines
			numbers[line] = n
		}
		end += len(line)
		t.lines, t.ends = append(t.lines, n), append(t.ends, end)
	}
	return t
}

// start is the byte at which line i begins.
func (t text) start(i int) int {
	if i == 0 {
		return 0
	}
	return t.ends[i-1]
}

// shared returns the places of the lines that other has too.
func shared(lines, other []rune, numbers int) []int {
	has := make([]bool, numbers)
	for _, n := range other {
		has[n] = true
	}
	var places []int
	for i, n := range lines {
		if has[n] {
			places = append(places, i)
		}
	}
	return places
}

func pick(lines []rune, places []int) []rune {
	picked := make([]rune, len(places))
	for i, at := range places {
		picked[i] = lines[at]
	}
	return picked
}

func newMatcher(a, b []rune, numbers int) *matcher {
	return &matcher{
		a: a, b: b, pair: slices.Repeat([]int{-1}, len(a)),
		work:  min(64*(len(a)+len(b)), 1<<24),
		seenA: make([]int, numbers), seenB: make([]int, numbers), placeB: make([]int, numbers),
	}
}

// match pairs the lines. What is left when the work is used up stays unpaired.
func (m *matcher) match() {
	todo := []span{{0, len(m.a), 0, len(m.b)}}
	for len(todo) > 0 {
		s := todo[len(todo)-1]
		todo = todo[:len(todo)-1]
		if s.a0 == s.a1 || s.b0 == s.b1 || m.work < s.size() {
			continue
		}
		m.work -= s.size()
		todo = append(todo, m.matchSpan(s)...)
	}
}

// matchSpan pairs lines of s and returns the parts of it to look at again.
func (m *matcher) matchSpan(s span) []span {
	diffs := lcs.DiffRunes(m.a[s.a0:s.a1], m.b[s.b0:s.b1])
	gaps, open := make([]span, len(diffs)), 0
	for i, d := range diffs {
		gaps[i] = span{s.a0 + d.Start, s.a0 + d.End, s.b0 + d.ReplStart, s.b0 + d.ReplEnd}
		open += gaps[i].size()
	}
	if open <= exactDiffs {
		m.join(s, gaps)
		return nil
	}
	if anchors := m.anchors(s); len(anchors) > 0 {
		return m.splitAt(s, anchors)
	}
	m.join(s, gaps)
	if open == s.size() {
		return nil // nothing was found, nor would be
	}
	return gaps
}

// join pairs the lines of s outside the gaps.
func (m *matcher) join(s span, gaps []span) {
	x, y := s.a0, s.b0
	for _, g := range append(slices.Clip(gaps), span{s.a1, s.a1, s.b1, s.b1}) {
		for ; x < g.a0; x, y = x+1, y+1 {
			m.pair[x] = y
		}
		x, y = g.a1, g.b1
	}
}

// splitAt pairs the anchors and returns what lies between them.
func (m *matcher) splitAt(s span, anchors [][2]int) []span {
	var parts []span
	x, y := s.a0, s.b0
	for _, at := range anchors {
		m.pair[at[0]] = at[1]
		parts = append(parts, span{x, at[0], y, at[1]})
		x, y = at[0]+1, at[1]+1
	}
	return append(parts, span{x, s.a1, y, s.b1})
}

// anchors returns the longest row of lines that stand once on each side of s, in
// the same order on both.
func (m *matcher) anchors(s span) [][2]int {
	a, b := m.a[s.a0:s.a1], m.b[s.b0:s.b1]
	for _, n := range a {
		m.seenA[n]++
	}
	for j, n := range b {
		m.seenB[n]++
		m.placeB[n] = s.b0 + j
	}
	var once [][2]int
	for i, n := range a {
		if m.seenA[n] == 1 && m.seenB[n] == 1 {
			once = append(once, [2]int{s.a0 + i, m.placeB[n]})
		}
	}
	for _, n := range a {
		m.seenA[n] = 0
	}
	for _, n := range b {
		m.seenB[n] = 0
	}
	return longestRising(once)
}

// longestRising returns the longest part of pairs whose second members rise; the
// first members rise already and no two second ones are equal.
func longestRising(pairs [][2]int) [][2]int {
	var tails []int // of the best row of each length, its last pair
	previous := make([]int, len(pairs))
	for i, p := range pairs {
		n := sort.Search(len(tails), func(k int) bool { return pairs[tails[k]][1] > p[1] })
		previous[i] = -1
		if n > 0 {
			previous[i] = tails[n-1]
		}
		if n == len(tails) {
			tails = append(tails, i)
		} else {
			tails[n] = i
		}
	}
	rows := make([][2]int, len(tails))
	for n := len(tails) - 1; n >= 0; n-- {
		i := tails[n]
		rows[n] = pairs[i]
		if n > 0 {
			tails[n-1] = previous[i]
		}
	}
	return rows
}
