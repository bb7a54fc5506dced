package crash_test

import (
	"slices"
	"testing"

	"gatehouse/test/process"
)

// change is one request that changes something, and all there is to know about it.
type change struct {
	name   string
	method string
	path   string
	body   any

	// fresh and again are the statuses of success, and of a repetition of what has
	// happened already. refused are the codes of problems that the load makes likely.
	fresh, again int
	refused      []string

	// happened asks a server whether the change took effect, and fails the test when
	// only a part of it did.
	happened func(t *testing.T) bool
	// enter writes the change down in the books of the job: it happened. The answer
	// is that of success, or of its repetition.
	enter func(answer process.Answer)
	// drop, when there is one, is told that the change was refused.
	drop func()
}

// job decides what a worker does next. One goroutine uses it at a time.
type job interface {
	// next is the next change.
	next() *change
	// check holds the books of the job against the server.
	check(t *testing.T)
	// finish ends what the job has begun.
	finish(t *testing.T)
}

// worker carries out the changes of a job.
type worker struct {
	job
	scene   *process.Scene
	pending *change // sent and not answered
	done    map[string]int
}

// work makes changes until there is no answer.
func (w *worker) work(t *testing.T) {
	for !t.Failed() {
		c := w.next()
		answer, err := w.scene.Send(t.Context(), c.method, c.path, c.body)
		if err != nil {
			w.pending = c
			return
		}
		w.judge(t, c, answer, c.fresh)
	}
}

// judge takes an answer to c, where wanted is that of success.
func (w *worker) judge(t *testing.T, c *change, answer process.Answer, wanted int) {
	switch {
	case answer.Status == wanted:
		c.enter(answer)
		w.done[c.name]++
	case slices.Contains(c.refused, answer.Object().Text("code")) || slices.Contains(c.refused, "204") && answer.Status == 204:
		if c.drop != nil {
			c.drop()
		}
	default:
		t.Errorf("%s: %s %s: %s, want %d", c.name, c.method, c.path, answer, wanted)
	}
}

// settle finds out what became of the change that was not answered, and sends it
// again.
func (w *worker) settle(t *testing.T) {
	t.Helper()
	c := w.pending
	if w.pending = nil; c == nil {
		return
	}
	happened := c.happened(t)
	answer, err := w.scene.Send(t.Context(), c.method, c.path, c.body)
	switch {
	case err != nil:
		t.Errorf("%s again: %v", c.name, err)
	case happened && answer.Status != c.again:
		t.Errorf("%s had happened, again: %s, want %d", c.name, answer, c.again)
	case happened:
		w.done["unanswered, had happened"]++
		c.enter(answer)
	default:
		w.done["unanswered, had not happened"]++
		w.judge(t, c, answer, c.fresh)
	}
}
