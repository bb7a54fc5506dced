package history

import (
	"bytes"
	"maps"

	"gatehouse/domain"
	"gatehouse/domain/subagent"
)

// normalizedCall is what a tool call was normalized to while frames are merged into it:
// member by member where both are objects, and so in the payload of a subagent. A null
// or an empty text blanks nothing.
//
// What a frame costs is what it replaces, however much else is known: the merge runs
// under the locks of task and session, and on SQLite in the one transaction that writes.
type normalizedCall struct {
	known   any // as [domain.ParseJSON] reads it; its objects down to the payload are its own
	size    int // bytes of known in canonical form; 0 when they were not counted yet
	changed bool
}

// revision is a member that a frame adds or replaces.
type revision struct {
	in    map[string]any
	name  string
	value any
}

// holds reports whether reported leaves the call within the limit of one frame: member
// by member it could grow without end.
func (n *normalizedCall) holds(reported any) bool {
	if n.known == nil || reported == nil {
		return true
	}
	_, growth := n.revisions(reported)
	return n.bytes()+growth <= domain.MaxMessageText
}

// merge takes over what is reported, and tells whether that is new.
func (n *normalizedCall) merge(reported any) (changed bool) {
	if reported == nil {
		return false
	}
	known, wereMembers := n.known.(map[string]any)
	_, areMembers := reported.(map[string]any)
	if !wereMembers || !areMembers {
		if n.known != nil && sameValue(n.known, reported) {
			return false
		}
		n.known, n.size, n.changed = owned(reported, subagent.TaskKind), 0, true
		return true
	}
	list, growth := revisions(known, reported.(map[string]any), subagent.TaskKind)
	if len(list) == 0 {
		return false
	}
	n.size = n.bytes() + growth
	for _, r := range list {
		r.in[r.name] = owned(r.value, "")
	}
	n.changed = true
	return true
}

func (n *normalizedCall) bytes() int {
	if n.size == 0 {
		n.size = len(canonicalOf(n.known))
	}
	return n.size
}

func (n *normalizedCall) revisions(reported any) (list []revision, growth int) {
	known, wereMembers := n.known.(map[string]any)
	members, areMembers := reported.(map[string]any)
	if !wereMembers || !areMembers {
		return nil, len(canonicalOf(reported)) - n.bytes()
	}
	return revisions(known, members, subagent.TaskKind)
}

// revisions are the members of known that differ in reported, and how many bytes of
// canonical form they add.
func revisions(known, reported map[string]any, below string) (list []revision, growth int) {
	size := len(known)
	for name, v := range reported {
		old, isKnown := known[name]
		if isKnown && (v == nil || v == "") {
			continue
		}
		before, wereMembers := old.(map[string]any)
		after, areMembers := v.(map[string]any)
		if name == below && wereMembers && areMembers {
			deeper, more := revisions(before, after, "")
			list, growth = append(list, deeper...), growth+more
			continue
		}
		told := canonicalOf(v)
		switch {
		case !isKnown:
			growth += len(canonicalOf(name)) + len(":") + len(told)
			if size > 0 {
				growth += len(",")
			}
			size++
		case bytes.Equal(told, canonicalOf(old)):
			continue
		default:
			growth += len(told) - len(canonicalOf(old))
		}
		list = append(list, revision{known, name, v})
	}
	return list, growth
}

// owned is v with objects of its own, down to the member below.
func owned(v any, below string) any {
	members, isObject := v.(map[string]any)
	if !isObject {
		return v
	}
	members = maps.Clone(members)
	if deeper, isObject := members[below].(map[string]any); isObject {
		members[below] = maps.Clone(deeper)
	}
	return members
}

func sameValue(a, b any) bool { return bytes.Equal(canonicalOf(a), canonicalOf(b)) }

// canonicalOf is a value in canonical form that had one before.
func canonicalOf(v any) []byte {
	canonical, err := domain.EncodeCanonical(v)
	if err != nil {
		panic(err)
	}
	return canonical
}
