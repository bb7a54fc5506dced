package storetest

import (
	"cmp"
	"fmt"
	"slices"

	"gatehouse/domain/prompt"
	"gatehouse/domain/session"
)

// modelQueues is the queues of a task and their delivery without a database, without
// code shared with the service, and without concern for speed (QU-23).
type modelQueues struct {
	archived   bool
	sessions   []*queueSession
	deliveries []*queueDelivery           // in the order of their making
	admissions map[string]*queueAdmission // by client id
}

// modelCapacity is small, so that it is reached.
const modelCapacity = 5

type queueSession struct {
	state       session.State
	incarnation int
	deleted     bool
	paused      bool // auto_run is off
	revision    int64
	last        int64    // position
	rows        []string // contents of the transcript
	turns       []*queueTurn
}

type queueTurn struct {
	state     session.TurnState
	interrupt bool
}

type queueAdmission struct {
	asked    string // all that is asked for
	delivery *queueDelivery
}

type queueDelivery struct {
	session     *queueSession
	incarnation int
	kind        prompt.Kind
	clientID    string // "" for none
	state       prompt.State
	position    int64
	content     string
	planMode    bool
	comments    int // that it carries
	version     int64
	row         bool // whether it has a transcript row
	turn        *queueTurn
	into        *queueDelivery
	from, as    *queueDelivery
	token       prompt.Token // of the last reservation, "" when it is worth nothing
	expired     bool         // its lease is over
	overdue     bool         // so is the patience with its attempt
	attempted   bool
	unknown     bool // it was of unknown outcome once
	outcome     prompt.Outcome
}

// queueRequest is what an admission asks for.
type queueRequest struct {
	kind     prompt.Kind
	session  *queueSession
	content  string // as rendered
	planMode bool
	comments int
	replaced bool // it is meant for an incarnation that is no more
}

// fingerprint is all that is asked for, without the precondition (AD-7).
func (r queueRequest) fingerprint() string {
	r.replaced = false
	return fmt.Sprintf("%+v", r)
}

func (s *queueSession) terminal() bool {
	return s.state == session.StateCompleted || s.state == session.StateFailed || s.state == session.StateCancelled
}

func (s *queueSession) promptable() bool {
	return s.state == session.StateCreated || s.state == session.StateIdle || s.state == session.StateWaitingForInput
}

func (s *queueSession) running() (running []*queueTurn) {
	for _, turn := range s.turns {
		if turn.state == session.TurnRunning {
			running = append(running, turn)
		}
	}
	return running
}

// queue is what a session is owed, in order of position.
func (m *modelQueues) queue(s *queueSession) (owed []*queueDelivery) {
	for _, d := range m.deliveries {
		if d.session == s && (d.state == prompt.StatePending || d.state == prompt.StateReserved || d.state == prompt.StateCombined) {
			owed = append(owed, d)
		}
	}
	slices.SortFunc(owed, func(a, b *queueDelivery) int { return cmp.Compare(a.position, b.position) })
	return owed
}

// admit returns the code of the answer, "" for success.
func (m *modelQueues) admit(id string, r queueRequest) (code string, replayed bool) {
	if prior, used := m.admissions[id]; used {
		if prior.asked != r.fingerprint() {
			return "admission_conflict", false
		}
		return "", true
	}
	owed := len(m.queue(r.session))
	switch s := r.session; {
	case m.archived:
		return "task_archived", false
	case s.terminal(), r.kind == prompt.KindDirect && (!s.promptable() || owed > 0):
		return "session_unavailable", false
	case r.replaced:
		return "session_replaced", false
	case owed >= modelCapacity:
		return "queue_full", false
	}
	d := m.add(r)
	d.clientID = id
	m.admissions[id] = &queueAdmission{r.fingerprint(), d}
	if d.kind == prompt.KindDirect {
		d.row = true
		d.session.rows = append(d.session.rows, d.content)
	}
	return "", false
}

// add puts a delivery at the end of a queue.
func (m *modelQueues) add(r queueRequest) *queueDelivery {
	s := r.session
	s.last++
	s.revision++
	d := &queueDelivery{
		session: s, incarnation: s.incarnation, kind: r.kind, state: prompt.StatePending, position: s.last,
		content: r.content, planMode: r.planMode, comments: r.comments, version: 1,
	}
	m.deliveries = append(m.deliveries, d)
	return d
}

// append adds a text without a client id (DL-6).
func (m *modelQueues) append(s *queueSession, content string, planMode bool) string {
	switch {
	case m.archived:
		return "task_archived"
	case s.terminal():
		return "session_unavailable"
	}
	owed := m.queue(s)
	if len(owed) > 0 {
		tail := owed[len(owed)-1]
		if tail.movable() && tail.clientID == "" && tail.comments == 0 && tail.from == nil && tail.planMode == planMode {
			tail.content += "\n\n" + content
			tail.version++
			s.revision++
			return ""
		}
	}
	if len(owed) >= modelCapacity {
		return "queue_full"
	}
	m.add(queueRequest{kind: prompt.KindQueued, session: s, content: content, planMode: planMode})
	return ""
}

// movable reports whether people may change d (DL-5).
func (d *queueDelivery) movable() bool {
	return d.kind == prompt.KindQueued && d.state == prompt.StatePending
}

// touch is what edit and removal are told first.
func (m *modelQueues) touch(s *queueSession, d *queueDelivery) string {
	switch {
	case m.archived:
		return "task_archived"
	case d.session != s:
		return "entry_not_found"
	}
	switch d.state {
	case prompt.StateCancelled, prompt.StateDiscarded, prompt.StateRequeued:
		return "entry_not_found"
	case prompt.StatePending, prompt.StateCombined:
		if !d.movable() {
			return "entry_not_editable"
		}
		return ""
	default:
		return "entry_reserved"
	}
}

func (m *modelQueues) edit(s *queueSession, d *queueDelivery, version int64, content string) string {
	code := m.touch(s, d)
	switch {
	case code != "":
		return code
	case d.version != version:
		return "queue_changed"
	}
	d.content = content
	d.version++
	s.revision++
	return ""
}

func (m *modelQueues) remove(s *queueSession, d *queueDelivery) string {
	code := m.touch(s, d)
	if code == "" {
		d.state = prompt.StateCancelled
		s.revision++
	}
	return code
}

// reorder puts the movable entries in an order (DL-7).
func (m *modelQueues) reorder(s *queueSession, order []*queueDelivery) string {
	if m.archived {
		return "task_archived"
	}
	var movable []*queueDelivery
	var places []int64
	for _, d := range m.queue(s) {
		if d.movable() {
			movable = append(movable, d)
			places = append(places, d.position)
		}
	}
	if slices.Equal(order, movable) {
		return ""
	}
	if len(order) != len(movable) {
		return "queue_changed"
	}
	for _, d := range movable {
		if !slices.Contains(order, d) {
			return "queue_changed"
		}
	}
	for i, d := range order {
		d.position = places[i]
	}
	s.revision++
	return ""
}
