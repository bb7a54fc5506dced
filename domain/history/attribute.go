package history

import (
	"cmp"
	"slices"

	"gatehouse/domain/session"
)

// attribute returns the file changes of each message of a session, by its seq: its
// own by ordinal, then, in the order of its calls, those of the runs it delegated. A
// run shows its child's changes by seq and ordinal, and behind those of a message
// what that message delegated in turn (HI-22). Each change is there once.
func attribute(of session.Session, work Work) map[int64][]SourcedChange {
	a := attribution{lists: map[int64][]SourcedChange{}, runs: map[string][]Run{}, seen: map[string]bool{}}
	slices.SortFunc(work.Own, inOrder)
	for _, c := range work.Own {
		a.add(c.MessageSeq, SourcedChange{FileChange: c, SourceSessionID: of.ID, SourceType: ownSource(of), SourceAgentType: ownAgent(of)})
	}
	slices.SortFunc(work.Runs, asDelegated)
	var roots []Run
	for _, r := range work.Runs {
		if r.ParentID == r.ID {
			roots = append(roots, r)
			continue
		}
		a.runs[r.ParentID] = append(a.runs[r.ParentID], r)
	}
	for _, r := range roots {
		a.follow(r.MessageSeq, r)
	}
	return a.lists
}

// ownSource says whose work a session's own changes are (HI-20).
func ownSource(of session.Session) SourceType {
	if of.Kind == session.KindSubagent {
		return SourceSubagent
	}
	return SourceMain
}

func ownAgent(of session.Session) *string {
	if of.Kind == session.KindSubagent {
		return of.AgentType
	}
	return nil
}

type attribution struct {
	lists map[int64][]SourcedChange
	runs  map[string][]Run // by the run they were delegated in
	seen  map[string]bool  // changes and runs
}

func (a *attribution) add(seq int64, c SourcedChange) {
	if !a.seen[c.ID] {
		a.seen[c.ID] = true
		a.lists[seq] = append(a.lists[seq], c)
	}
}

// follow adds what r and the runs it delegated changed to the list of seq.
func (a *attribution) follow(seq int64, r Run) {
	if a.seen[r.ID] {
		return
	}
	a.seen[r.ID] = true
	nested := a.runs[r.ID]
	slices.SortFunc(r.Changes, inOrder)
	for _, c := range r.Changes {
		for len(nested) > 0 && nested[0].MessageSeq < c.MessageSeq {
			a.follow(seq, nested[0])
			nested = nested[1:]
		}
		a.add(seq, SourcedChange{
			FileChange: c, SourceSessionID: r.ChildSessionID, SourceType: SourceSubagent,
			SourceAgentType: r.AgentType, SourceExecutionID: &r.ID,
		})
	}
	for _, n := range nested {
		a.follow(seq, n)
	}
}

// inOrder is the order of changes in a session.
func inOrder(a, b FileChange) int {
	return cmp.Or(cmp.Compare(a.MessageSeq, b.MessageSeq), cmp.Compare(a.Ordinal, b.Ordinal))
}

// asDelegated is the order of the runs of a session: by message, by call, and those
// of one call, or of none, as they were started.
func asDelegated(a, b Run) int {
	return cmp.Or(
		cmp.Compare(a.MessageSeq, b.MessageSeq),
		compareOrdinals(a.CallOrdinal, b.CallOrdinal),
		a.StartedAt.Compare(b.StartedAt),
		cmp.Compare(a.ID, b.ID),
	)
}

// compareOrdinals puts what has none last.
func compareOrdinals(a, b *int) int {
	switch {
	case a != nil && b != nil:
		return cmp.Compare(*a, *b)
	case a != nil:
		return -1
	case b != nil:
		return 1
	}
	return 0
}
