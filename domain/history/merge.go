package history

import (
	"cmp"
	"slices"
)

// Merge sums up changes, in order, by path: one entry per file, in order of first
// appearance. It is the sum of the operations and not a diff: a file changed and
// changed back is listed. Changes are only read; entries share their texts.
//
// A rename takes the entry of its old path along, to the new path and at the old
// one's place. An entry that stands at the new path is joined into it. The old
// path is free then: a later change of it opens an entry of its own.
func Merge(changes []SourcedChange) []MergedChange {
	groups := groupByPath(changes)
	merged := make([]MergedChange, len(groups))
	for i, group := range groups {
		merged[i] = group.merge()
	}
	return merged
}

// groupByPath puts the changes of one file together, in order of first appearance.
// The groups point to the changes.
func groupByPath(changes []SourcedChange) []*group {
	g := grouping{at: map[string]*group{}}
	for i := range changes {
		g.add(operation{i, &changes[i]})
	}
	return slices.DeleteFunc(g.groups, func(p *group) bool { return p.joined })
}

// operation is a change with its place among all of them.
type operation struct {
	index  int
	change *SourcedChange
}

// group is the operations on one file, in their original order.
type group struct {
	key        string
	opened     int // the index of the change that began it: groups are in its order
	operations []operation
	joined     bool // whether another group took its operations over
}

// grouping is the groups so far, and which of them each path leads to.
type grouping struct {
	groups []*group
	at     map[string]*group
}

// add puts op into the group it continues, or into a new one.
func (g *grouping) add(op operation) {
	key := op.change.PathKey
	group := g.at[key]
	if moved := g.renamed(op.change); moved != nil {
		if group != nil {
			moved.take(group)
		}
		delete(g.at, moved.key)
		moved.key, g.at[key] = key, moved
		group = moved
	}
	if group == nil {
		group = g.open(key, op.index)
	}
	group.operations = append(group.operations, op)
}

// renamed returns the group that c moves to another path, or nil.
func (g *grouping) renamed(c *SourcedChange) *group {
	if c.ChangeType != Renamed || c.OldPathKey == nil || *c.OldPathKey == c.PathKey {
		return nil
	}
	return g.at[*c.OldPathKey]
}

func (g *grouping) open(key string, index int) *group {
	opened := &group{key: key, opened: index}
	g.groups = append(g.groups, opened)
	g.at[key] = opened
	return opened
}

// take moves the operations of other into p.
func (p *group) take(other *group) {
	p.operations = append(p.operations, other.operations...)
	slices.SortFunc(p.operations, func(a, b operation) int { return cmp.Compare(a.index, b.index) })
	other.operations, other.joined = nil, true
}
