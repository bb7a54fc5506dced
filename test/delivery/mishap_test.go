package delivery_test

import "slices"

// mishap is what happens at a moment of a runner; the zero one is none.
type mishap struct {
	what   string
	during bool // while it makes the step, not before
}

// What happens.
const (
	mishapStop = "stop" // the runner is stopped until its lease has ended
	mishapKill = "kill" // the server is killed, and another is started
	mishapCut  = "cut"  // the servers' connections to the database are cut
	mishapDie  = "die"  // the runner is killed, and another is started
)

// point is a moment of a runner: before or after a step.
type point struct {
	step  string
	after bool
}

// reserved reports whether a runner holds a reservation there.
func (p point) reserved() bool {
	switch p.step {
	case stepReserve:
		return p.after
	case stepRenew:
		return true
	case stepRelease, stepAttempt:
		return !p.after
	default:
		return false
	}
}

// plan puts every mishap that the database allows to every point, so many times.
func (d *director) plan(rounds uint64) {
	now := []mishap{{what: mishapStop}, {what: mishapKill}, {what: mishapDie}}
	during := []mishap{{mishapKill, true}, {mishapDie, true}}
	if !d.embedded() {
		now, during = append(now, mishap{what: mishapCut}), append(during, mishap{mishapCut, true})
	}
	for range rounds {
		for _, step := range steps {
			for at, some := range map[point][]mishap{{step, false}: slices.Concat(now, during), {step, true}: now} {
				d.todo[at] = append(d.todo[at], some...)
				if at.reserved() { // which is what stopping is about
					d.todo[at] = append(d.todo[at], mishap{what: mishapStop}, mishap{what: mishapStop})
				}
			}
		}
	}
	for _, some := range d.todo {
		d.left += len(some)
	}
	for _, step := range steps {
		for _, after := range []bool{false, true} {
			all := d.todo[point{step, after}]
			d.random.Shuffle(len(all), func(i, k int) { all[i], all[k] = all[k], all[i] })
		}
	}
}

// take takes the next mishap of a point that may happen to a server: one that is down
// is killed later.
func (d *director) take(at point, server int) mishap {
	for i, m := range d.todo[at] {
		if m.what == mishapKill && d.down[server] {
			continue
		}
		d.todo[at] = append(d.todo[at][:i:i], d.todo[at][i+1:]...)
		d.left--
		return m
	}
	return mishap{}
}
