package history

import (
	"math/rand/v2"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"gatehouse/domain"
)

// apply does what the edits say.
func (d lineDiff) apply(t interface{ Fatalf(string, ...any) }) string {
	var out strings.Builder
	at := 0
	for _, e := range d.edits {
		if e.beforeStart < at || e.deleted+e.added == 0 {
			t.Fatalf("edit %+v overlaps the one before it, or is empty", e)
		}
		if got := countLines(d.before[e.beforeStart:e.beforeEnd]); got != e.deleted {
			t.Fatalf("edit %+v deletes %d lines", e, got)
		}
		if got := countLines(d.after[e.afterStart:e.afterEnd]); got != e.added {
			t.Fatalf("edit %+v adds %d lines", e, got)
		}
		if got := strings.Count(d.before[:e.beforeStart], "\n"); got != e.beforeLine {
			t.Fatalf("edit %+v begins at line %d", e, got)
		}
		out.WriteString(d.before[at:e.beforeStart])
		out.WriteString(d.after[e.afterStart:e.afterEnd])
		at = e.beforeEnd
	}
	out.WriteString(d.before[at:])
	return out.String()
}

// longestCommon is the textbook table.
func longestCommon(a, b []string) int {
	row := make([]int, len(b)+1)
	for _, x := range a {
		corner := 0
		for j, y := range b {
			above := row[j+1]
			if x == y {
				row[j+1] = corner + 1
			} else {
				row[j+1] = max(row[j+1], row[j])
			}
			corner = above
		}
	}
	return row[len(b)]
}

func lines(s string) []string {
	if s == "" {
		return nil
	}
	all := strings.SplitAfter(s, "\n")
	if all[len(all)-1] == "" {
		all = all[:len(all)-1]
	}
	return all
}

func texts(maxLines int) *rapid.Generator[string] {
	return rapid.Custom(func(t *rapid.T) string {
		words := rapid.SliceOfN(rapid.SampledFrom([]string{"", "a", "b", "c", "+", "-- a", "++ b", "\r", "é"}), 0, maxLines).Draw(t, "lines")
		s := strings.Join(words, "\n")
		if rapid.Bool().Draw(t, "final") && s != "" {
			s += "\n"
		}
		return s
	})
}

// HI-7: counts come from a real diff.
func TestDiffTextsIsSmallest(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		before, after := texts(45).Draw(t, "before"), texts(45).Draw(t, "after")
		d := diffTexts(before, after)
		if got := d.apply(t); got != after {
			t.Fatalf("applied: %q", got)
		}
		added, deleted := d.counts()
		common := longestCommon(lines(before), lines(after))
		if int(added) != len(lines(after))-common || int(deleted) != len(lines(before))-common {
			t.Fatalf("+%d -%d, but %d lines are common", added, deleted, common)
		}
		plus, minus, _ := CountPatch(d.hunks(domain.MaxPatch))
		if plus != added || minus != deleted {
			t.Fatalf("hunks count +%d -%d, the diff +%d -%d", plus, minus, added, deleted)
		}
	})
}

// Far more edits than the library looks for, one line each, are all found.
func TestDiffTextsCountsManyEdits(t *testing.T) {
	var before, after strings.Builder
	for i := range 20_000 {
		line := strings.Repeat("x", i%7) + string(rune('a'+i%26)) + strings.Repeat("y", i/100) + "\n"
		before.WriteString(line)
		if i%10 == 5 {
			line = "new " + line
		}
		after.WriteString(line)
	}
	d := diffTexts(before.String(), after.String())
	if added, deleted := d.counts(); added != 2000 || deleted != 2000 {
		t.Errorf("+%d -%d, want 2000 of each", added, deleted)
	}
	if d.apply(t) != after.String() {
		t.Error("the edits do not lead to the text after")
	}
}

// A block of more lines than the library steps over is found where it moved to.
func TestDiffTextsFindsMovedBlock(t *testing.T) {
	block := func(name string, n int) string {
		var b strings.Builder
		for i := range n {
			b.WriteString(name + strings.Repeat("i", i) + "\n")
		}
		return b.String()
	}
	d := diffTexts(block("a", 200)+block("b", 900), block("b", 900)+block("a", 200))
	if added, deleted := d.counts(); added != 200 || deleted != 200 {
		t.Errorf("+%d -%d, want 200 of each", added, deleted)
	}
}

// Without work to spend, lines stay unpaired instead of being looked at.
func TestMatcherStopsWithoutWork(t *testing.T) {
	m := newMatcher([]rune{0, 1}, []rune{0, 1}, 2)
	m.work = 3
	m.match()
	if m.pair[0] != -1 || m.pair[1] != -1 {
		t.Errorf("paired %v with less work than lines", m.pair)
	}
}

// Texts that defeat a diff stay bounded and the answer stays true.
func TestDiffTextsOfHugeTexts(t *testing.T) {
	random := func(seed uint64, size, width, letters int) string {
		r := rand.New(rand.NewPCG(seed, 0))
		var b strings.Builder
		for b.Len() < size {
			for range width {
				b.WriteByte(byte('a' + r.IntN(letters)))
			}
			b.WriteByte('\n')
		}
		return b.String()
	}
	tests := map[string]struct{ size, width, letters int }{
		"nothing in common":    {4 << 20, 40, 26},
		"few different lines":  {1 << 20, 2, 4},
		"many repeated lines":  {1 << 20, 2, 26},
		"too many to compare":  {4 << 20, 1, 26},
		"every line the same":  {1 << 20, 1, 1},
		"of three short lines": {512 << 10, 1, 3},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			d := diffTexts(random(1, test.size, test.width, test.letters), random(2, test.size, test.width, test.letters))
			if d.apply(t) != d.after {
				t.Error("the edits do not lead to the text after")
			}
		})
	}
}
