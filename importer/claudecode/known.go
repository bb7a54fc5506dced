package claudecode

import "container/list"

// knownBytes is how much text of files is remembered, so that memory stays flat.
const knownBytes = 16 << 20

// knownTexts remembers what a task is known to have written to its files, the
// files written last up to a limit. What is forgotten costs no more than a whole
// text beside a change.
type knownTexts struct {
	limit int
	size  int
	order *list.List // of *knownText, the latest in front
	byKey map[string]*list.Element
}

type knownText struct{ path, text string }

func newKnownTexts(limit int) *knownTexts {
	return &knownTexts{limit: limit, order: list.New(), byKey: map[string]*list.Element{}}
}

func (k *knownTexts) get(path string) (string, bool) {
	e, ok := k.byKey[path]
	if !ok {
		return "", false
	}
	return e.Value.(*knownText).text, true
}

func (k *knownTexts) set(path, text string) {
	k.forget(path)
	k.byKey[path] = k.order.PushFront(&knownText{path, text})
	for k.size += len(text); k.size > k.limit; {
		k.forget(k.order.Back().Value.(*knownText).path)
	}
}

func (k *knownTexts) forget(path string) {
	e, ok := k.byKey[path]
	if !ok {
		return
	}
	k.size -= len(e.Value.(*knownText).text)
	k.order.Remove(e)
	delete(k.byKey, path)
}
