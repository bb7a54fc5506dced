package delivery_test

// mishap is what happens at a moment of a runner.
type mishap int

const (
	mishapNone       mishap = iota
	mishapStop              // the runner is stopped until its lease has ended
	mishapKill              // the server is killed now
	mishapKillDuring        // it is killed while it works on the step
	mishapCut               // the servers' connections to the database are cut now
	mishapCutDuring         // they are cut during the step
	mishapDie               // the runner is killed now, and another is started
	mishapDieDuring         // it is killed during the step
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
	before := []mishap{mishapStop, mishapKill, mishapKillDuring, mishapDie, mishapDieDuring}
	after := []mishap{mishapStop, mishapKill, mishapDie}
	if !d.embedded() {
		before, after = append(before, mishapCut, mishapCutDuring), append(after, mishapCut)
	}
	for range rounds {
		for _, step := range steps {
			for at, some := range map[point][]mishap{{step, false}: before, {step, true}: after} {
				d.todo[at] = append(d.todo[at], some...)
				if at.reserved() { // which is what stopping is about
					d.todo[at] = append(d.todo[at], mishapStop, mishapStop)
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
		if (m == mishapKill || m == mishapKillDuring) && d.down[server] {
			continue
		}
		d.todo[at] = append(d.todo[at][:i:i], d.todo[at][i+1:]...)
		d.left--
		return m
	}
	return mishapNone
}
