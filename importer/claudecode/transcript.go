package claudecode

import (
	"context"
	"errors"
	"path/filepath"
	"strings"

	"gatehouse/domain"
)

// namespace is where the ids of files begin whose session has no UUID.
const namespace = "5b1a3e0c-7b0e-5d64-9c5e-0c6f7a1f2d38"

// Read tells sink what t holds and counts it in summary. progress, if not nil, is
// told of bytes as they are done, t.Size in all. What cannot be read in a file is
// counted and named in summary and stops nothing (HI-31); an error is one of the
// sink, of ctx, or of a disk.
func Read(ctx context.Context, t Transcript, sink Sink, summary *Summary, progress func(bytes int64)) error {
	if progress == nil {
		progress = func(int64) {}
	}
	return read(ctx, t, &reader{sink: counter{sink, summary}, summary: summary, progress: progress, open: openFile, limit: MaxLine})
}

func read(ctx context.Context, t Transcript, r *reader) error {
	for _, folder := range t.closed {
		r.summary.Report(folder, 0, ReasonUnreadable)
	}
	f, closeFile, err := r.open(t.Path)
	if err != nil {
		r.summary.Report(t.Path, 0, ReasonUnreadable)
		return err
	}
	r.main = f
	r.prepare(t)
	return errors.Join(r.tell(ctx), closeFile())
}

// reader reads one transcript.
type reader struct {
	sink     Sink
	summary  *Summary
	progress func(int64)
	open     opener
	limit    int // bytes of a line

	main       *file
	transcript string // the session as its lines name it
	session    string // its id
	task       string
	agents     []*agentFile        // in the session's own folder
	chains     *sideChains         // side chains within the main file
	mirrors    map[string][]ref    // copied lines of subagents, by agent
	mirrored   map[string]string   // agents by the call that mirrors name
	children   map[string]*child   // by agent
	endings    map[string][]ending // of work in the background, by agent
	prompts    map[string]digest   // of the files in the own folder, once looked at
	known      *knownTexts
}

func (r *reader) prepare(t Transcript) {
	for i := range t.agents {
		r.agents = append(r.agents, &t.agents[i])
	}
	r.chains = newSideChains()
	r.mirrors, r.mirrored, r.children = map[string][]ref{}, map[string]string{}, map[string]*child{}
	r.endings, r.prompts = map[string][]ending{}, map[string]digest{}
	r.known = newKnownTexts(knownBytes)
}

// tell reads the main file and all that hangs on it.
func (r *reader) tell(ctx context.Context) error {
	r.summary.Files++
	x, err := r.indexMain()
	if err != nil {
		return err
	}
	if !x.facts.speaks {
		r.summary.Report(r.main.path, 0, ReasonNoSession)
		r.progress(r.main.size)
		r.unlinked()
		return nil
	}
	r.name(x.facts)
	t := &thread{reader: r, index: x, session: r.session, linked: r.link(x, r.session)}
	titles := x.facts.titles()
	if err := r.sink.Task(ctx, Task{r.task, titles[0], titles[1:], x.facts.began}); err != nil {
		return err
	}
	err = r.sink.Session(ctx, Session{
		ID: r.session, TaskID: r.task, Kind: KindMain, Title: titles[0], WorkspacePath: x.facts.cwd,
	})
	if err != nil {
		return err
	}
	if err := t.tell(ctx, once(r.main.records(r.limit, silence)), r.main); err != nil {
		return err
	}
	if err := t.endOfFile(ctx); err != nil {
		return err
	}
	r.unlinked()
	return r.sink.SessionState(ctx, SessionState{r.session, StateWaitingForInput})
}

// name decides the ids: the main session's is the transcript's where that is one.
func (r *reader) name(f facts) {
	r.transcript = f.sessionID
	base := strings.TrimSuffix(filepath.Base(r.main.path), extension)
	ok := false
	for _, name := range []string{f.sessionID, base} {
		if r.session, ok = domain.ParseID(name); ok {
			break
		}
	}
	if !ok {
		r.session = domain.DeriveID(namespace, "session", f.sessionID, base)
	}
	r.task = domain.DeriveID(r.session, "task")
}

// indexMain passes over the main file, which may hold threads of subagents.
func (r *reader) indexMain() (*index, error) {
	x := newIndex()
	report := r.reporter(r.main)
	for rec, err := range once(r.main.records(r.limit, report)) {
		if err != nil {
			return nil, err
		}
		judge(rec, report)
		switch {
		case rec.mirrors():
			r.addMirror(rec)
		case rec.IsSidechain:
			r.chains.add(rec)
		default:
			x.add(rec)
		}
	}
	r.addEndings(x)
	return x, nil
}

func (r *reader) addMirror(rec *record) {
	agent := rec.Data.AgentID
	if len(r.mirrors[agent]) == 0 && rec.ParentToolUseID != "" {
		r.mirrored[rec.ParentToolUseID] = agent
	}
	r.mirrors[agent] = append(r.mirrors[agent], rec.at)
}

func (r *reader) addEndings(x *index) {
	for _, e := range x.endings {
		r.endings[e.agent] = append(r.endings[e.agent], e)
	}
	x.endings = nil
}

// unlinked reports the files of the own folder that no call led to.
func (r *reader) unlinked() {
	for _, a := range r.agents {
		if r.children[a.id] == nil {
			r.summary.Report(a.path, 0, ReasonUnlinked)
			r.progress(a.size)
		}
	}
}

func (r *reader) reporter(f *file) reporter {
	return func(line int, reason Reason) { r.summary.Report(f.path, line, reason) }
}

// silence is for the second pass: the first has reported everything.
func silence(int, Reason) {}

// judge reports a line that is not known, or not what its type says.
func judge(rec *record, report reporter) {
	switch {
	case rec.speaks(), silent[rec.Type]:
	case rec.Type == typeUser, rec.Type == typeAssistant:
		report(rec.at.line, ReasonShape)
	default:
		report(rec.at.line, ReasonUnknownType)
	}
}
