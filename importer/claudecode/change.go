package claudecode

import (
	"slices"

	"gatehouse/domain/history"
)

// change makes a file change of e by what is known of the file (HI-32), and
// remembers what it left there.
func (k *knownTexts) change(call string, e edit) FileChange {
	c := FileChange{Path: e.path, ChangeType: Modified, ToolCallID: call}
	switch {
	case e.content != nil:
		k.overwrite(&c, e)
	case !k.edit(&c, e):
		k.fragment(&c, e)
	}
	return c
}

// overwrite is a change that gives the whole text.
func (k *knownTexts) overwrite(c *FileChange, e edit) {
	before := e.original
	if known, ok := k.get(e.path); ok && before == nil && !e.created {
		before = &known
	}
	k.set(e.path, *e.content)
	switch {
	case e.created:
		c.ChangeType, c.After = Created, e.content
	case before != nil:
		c.Before, c.After = before, e.content
	default:
		c.After = e.content
	}
}

// edit is a change of a part of a file whose whole text is known before, or that
// is new. It reports false for any other.
func (k *knownTexts) edit(c *FileChange, e edit) bool {
	isNew := len(e.fragments) > 0 && e.fragments[0].Before == "" && (e.original == nil || *e.original == "")
	before := ""
	switch {
	case e.original != nil:
		before = *e.original
	case !isNew:
		return false
	}
	after, ok := e.apply(before)
	if !ok {
		return false
	}
	if isNew {
		c.ChangeType = Created
	} else {
		c.Before = &before
	}
	c.After = &after
	k.set(e.path, after)
	return true
}

// fragment is a change of which no more than the edited part is known.
func (k *knownTexts) fragment(c *FileChange, e edit) {
	text, added, deleted := history.FragmentPatch(e.path, e.fragments)
	c.Patch = &text
	if !slices.Contains(e.replaceAll, true) { // else nobody said how often
		c.LinesAdded, c.LinesDeleted = &added, &deleted
	}
	if known, ok := k.get(e.path); ok {
		if after, applied := e.apply(known); applied {
			k.set(e.path, after)
			return
		}
	}
	k.forget(e.path)
}
