package storetest

import (
	"slices"
	"strings"

	"gatehouse/domain/prompt"
	"gatehouse/domain/session"
)

func (d *queueDelivery) leased() bool { return d.state == prompt.StateReserved && !d.expired }

// sources are those of a combination, in order of position.
func (m *modelQueues) sources(combination *queueDelivery) (sources []*queueDelivery) {
	for _, d := range m.deliveries {
		if d.into == combination {
			sources = append(sources, d)
		}
	}
	return sources
}

// takeBack puts what is reserved no longer back to its place.
func (m *modelQueues) takeBack(s *queueSession) {
	for _, d := range m.queue(s) {
		if d.state == prompt.StateReserved && d.expired {
			d.state, d.token = prompt.StatePending, ""
		}
	}
}

// reserve returns what is handed out, nil for nothing.
func (m *modelQueues) reserve(s *queueSession) (*queueDelivery, string) {
	switch {
	case m.archived:
		return nil, "task_archived"
	case s.terminal():
		return nil, "session_unavailable"
	case s.state == session.StateRunning:
		return nil, ""
	}
	var head *queueDelivery
	for _, d := range m.queue(s) {
		if d.leased() {
			return nil, ""
		}
		if head == nil && d.state != prompt.StateCombined {
			head = d
		}
	}
	if head == nil || s.paused && head.kind != prompt.KindCombined {
		return nil, ""
	}
	m.takeBack(s)
	head.state, head.expired = prompt.StateReserved, false
	s.revision++
	return head, ""
}

// queueSelection is what send now asks for.
type queueSelection struct {
	entries   []*queueDelivery // nil for all
	stale     bool             // it has another revision in mind
	interrupt bool
	runner    bool
}

// sendNow returns the combination (DL-8).
func (m *modelQueues) sendNow(s *queueSession, r queueSelection) (*queueDelivery, string) {
	switch {
	case m.archived:
		return nil, "task_archived"
	case s.terminal():
		return nil, "session_unavailable"
	case !r.interrupt && (s.state == session.StateRunning || len(s.running()) > 0):
		return nil, "session_unavailable"
	}
	sources, code := m.selected(s, r)
	if code != "" {
		return nil, code
	}
	d := &queueDelivery{
		session: s, incarnation: s.incarnation, kind: prompt.KindCombined, state: prompt.StatePending,
		position: m.queue(s)[0].position - 1, planMode: sources[0].planMode, version: 1,
	}
	m.takeBack(s)
	var texts []string
	for _, source := range sources {
		source.state, source.into = prompt.StateCombined, d
		texts = append(texts, source.content)
		d.comments += source.comments
	}
	d.content = strings.Join(texts, "\n\n")
	if r.runner {
		d.state = prompt.StateReserved
	}
	if r.interrupt {
		for _, turn := range s.running() {
			turn.interrupt = true
		}
	}
	s.revision++
	m.deliveries = append(m.deliveries, d)
	return d, ""
}

// selected are the entries that are combined.
func (m *modelQueues) selected(s *queueSession, r queueSelection) (sources []*queueDelivery, code string) {
	queue := m.queue(s)
	for _, d := range queue {
		if d.leased() && (r.runner || slices.Contains(r.entries, d)) {
			return nil, "send_now_conflict"
		}
	}
	if r.stale {
		return nil, "queue_changed"
	}
	for _, d := range queue {
		alone := d.kind != prompt.KindCombined && d.state != prompt.StateCombined && !d.leased()
		switch named := slices.Contains(r.entries, d); {
		case named && !alone:
			return nil, "entry_not_editable"
		case named, r.entries == nil && alone:
			sources = append(sources, d)
		}
	}
	switch {
	case len(sources) < len(r.entries):
		return nil, "entry_not_found"
	case len(sources) == 0:
		return nil, "queue_empty"
	}
	return sources, ""
}

// holds is what renew, attempt and release are told first.
func (d *queueDelivery) holds(token prompt.Token) string {
	switch {
	case d.token != token || token == "":
		return "lease_lost"
	case d.attempted:
		return "delivery_attempted"
	case !d.leased():
		return "lease_lost"
	}
	return ""
}

func (m *modelQueues) attempt(d *queueDelivery, token prompt.Token) string {
	s := d.session
	switch {
	case m.archived:
		return "task_archived"
	case s.deleted || s.incarnation != d.incarnation:
		return "session_replaced"
	}
	if code := d.holds(token); code != "" {
		return code
	}
	if s.terminal() {
		return "session_unavailable"
	}
	if !d.row {
		s.rows = append(s.rows, d.content)
	}
	turn := &queueTurn{state: session.TurnRunning}
	s.turns = append(s.turns, turn)
	for _, x := range append(m.sources(d), d) {
		x.state, x.attempted, x.row, x.turn = prompt.StateAttempted, true, true, turn
	}
	s.state = session.StateRunning
	s.revision++
	return ""
}

func (m *modelQueues) release(d *queueDelivery, token prompt.Token) string {
	if code := d.holds(token); code != "" {
		return code
	}
	d.state, d.token = prompt.StatePending, ""
	if d.kind == prompt.KindCombined {
		for _, source := range m.sources(d) {
			source.state, source.into = prompt.StatePending, nil
		}
		d.state = prompt.StateDiscarded
	}
	d.session.revision++
	return ""
}

func (m *modelQueues) acknowledge(d *queueDelivery, token prompt.Token, o prompt.Outcome) string {
	switch code := d.holds(token); {
	case code == "":
		return "delivery_not_attempted"
	case code != "delivery_attempted":
		return code
	case d.state == prompt.StateAttempted, d.state == prompt.StateOutcomeUnknown && o != prompt.OutcomeUnknown:
		m.settle(d, o)
	}
	return ""
}

// settle writes down what became of an attempt, for a combination as a whole.
func (m *modelQueues) settle(d *queueDelivery, o prompt.Outcome) {
	for _, x := range append(m.sources(d), d) {
		x.outcome, x.state = o, prompt.StateAcknowledged
		if o == prompt.OutcomeUnknown {
			x.state, x.unknown = prompt.StateOutcomeUnknown, true
		}
	}
	if s := d.session; o != prompt.OutcomeSucceeded && !s.deleted && s.incarnation == d.incarnation {
		s.endTurn(d.turn, session.TurnFailed)
	}
}

// endTurn ends a turn, and with the last one the run of its session. A turn that has
// ended ends nothing again: what runs since then a runner has said.
func (s *queueSession) endTurn(turn *queueTurn, state session.TurnState) {
	if turn.state != session.TurnRunning {
		return
	}
	turn.state = state
	if s.state == session.StateRunning && len(s.running()) == 0 {
		s.state = session.StateWaitingForInput
	}
}

// resolve returns the new entry of what is queued again (DL-12).
func (m *modelQueues) resolve(d *queueDelivery, r prompt.Resolution) (*queueDelivery, string) {
	if d.into != nil {
		d = d.into
	}
	s := d.session
	again := r == prompt.ResolutionRequeue
	switch {
	case again && d.state == prompt.StateRequeued,
		!again && d.state == prompt.StateAcknowledged && d.unknown && d.outcome == prompt.OutcomeSucceeded:
		return nil, ""
	case d.state != prompt.StateOutcomeUnknown:
		return nil, "delivery_not_attempted"
	case !again:
		for _, x := range append(m.sources(d), d) {
			x.state, x.outcome = prompt.StateAcknowledged, prompt.OutcomeSucceeded
		}
		return nil, ""
	case m.archived:
		return nil, "task_archived"
	case s.deleted || s.incarnation != d.incarnation:
		return nil, "session_replaced"
	case s.terminal():
		return nil, "session_unavailable"
	case len(m.queue(s)) >= modelCapacity:
		return nil, "queue_full"
	}
	made := m.add(queueRequest{kind: prompt.KindQueued, session: s, content: d.content, planMode: d.planMode, comments: d.comments})
	made.from = d
	for _, x := range append(m.sources(d), d) {
		x.state, x.as = prompt.StateRequeued, made
	}
	return made, ""
}

// recover is one pass of recovery (DL-3).
func (m *modelQueues) recover() {
	for _, d := range m.deliveries {
		switch s := d.session; {
		case d.state == prompt.StateReserved && d.expired:
			d.state, d.token = prompt.StatePending, ""
			s.revision++
		case d.state == prompt.StateAttempted && d.overdue:
			for _, x := range append(m.sources(d), d) {
				x.state, x.unknown = prompt.StateOutcomeUnknown, true
			}
			if !s.deleted && s.incarnation == d.incarnation {
				s.endTurn(d.turn, session.TurnFailed)
			}
		}
	}
}

// abandon gives up what a session is owed (DL-9).
func (m *modelQueues) abandon(s *queueSession) {
	for _, d := range m.deliveries {
		switch {
		case d.session != s:
		case d.state == prompt.StateAttempted:
			d.state, d.unknown = prompt.StateOutcomeUnknown, true
		case d.state == prompt.StatePending, d.state == prompt.StateReserved, d.state == prompt.StateCombined:
			d.state = prompt.StateDiscarded
		}
	}
}

func (m *modelQueues) reset(s *queueSession, stale bool) string {
	switch {
	case m.archived:
		return "task_archived"
	case s.terminal():
		return "session_unavailable"
	case stale:
		return "session_replaced"
	}
	m.abandon(s)
	for _, turn := range s.running() {
		turn.state = session.TurnCancelled
	}
	s.state = session.StateCreated
	s.incarnation++
	s.revision++
	return ""
}

func (m *modelQueues) delete(s *queueSession) string {
	if m.archived {
		return "task_archived"
	}
	m.abandon(s)
	s.deleted = true
	return ""
}

// setState is what a runner says of a session.
func (s *queueSession) setState(state session.State) string {
	if s.terminal() && state != s.state {
		return "session_unavailable"
	}
	s.state = state
	if s.terminal() {
		for _, turn := range s.running() {
			turn.state = session.TurnState(state)
		}
	}
	return ""
}
