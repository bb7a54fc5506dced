package importer

import (
	"context"
	"errors"
	"slices"

	"golang.org/x/sync/errgroup"

	"gatehouse/domain"
	"gatehouse/importer/claudecode"
)

// Why a transcript is not loaded. Nothing of it is written then.
var (
	ErrOtherWorkspace = &domain.Error{Kind: domain.KindConflict, Code: "other_workspace", Detail: "The session is in another workspace already."}
	ErrOtherTask      = &domain.Error{Kind: domain.KindConflict, Code: "other_task", Detail: "The session is in another task already, which no import made."}
)

// EnoughMemory is how many bytes of memory loading gets by with as fast as with more,
// however much there is to load. A longer line than real ones are may need more.
const EnoughMemory = 64 << 20

// jobsAhead is how many jobs reading may be ahead of the database: few, since each may
// hold a batch.
const jobsAhead = 4

// Loader loads transcripts into a workspace, one at a time.
type Loader struct {
	services    Services
	workspaceID string
}

// NewLoader returns a loader into a workspace, which exists.
func NewLoader(s Services, workspaceID string) *Loader { return &Loader{s, workspaceID} }

// Load loads what of t is not there yet, and counts in result what t holds and what
// was new. progress, if not nil, is told of bytes as they are done, t.Size in all.
//
// What the domain refuses is named in result and stops no more than the message, or
// else the transcript, that it belongs to. An error is one of ctx or of the database:
// what went in until then stays, and another Load goes on behind it.
func (l *Loader) Load(ctx context.Context, t claudecode.Transcript, result *Result, progress func(bytes int64)) error {
	l.services.Clock.reset()
	var done int64
	told := func(bytes int64) {
		done += bytes
		if progress != nil {
			progress(bytes)
		}
	}
	unreadable := result.Skipped[claudecode.ReasonUnreadable]
	w := &writer{Services: l.services, workspaceID: l.workspaceID, sessions: map[string]*known{}, invocations: newInvocations()}
	read, failed := w.follow(ctx, t, result.Summary, told)
	result.add(w)
	reason, refused := refusal(failed)
	switch {
	case ctx.Err() != nil:
		return context.Cause(ctx)
	case refused:
		result.refuse(claudecode.Problem{File: t.Path, Reason: reason})
	case failed != nil:
		return failed
	case read == nil:
		return nil
	case result.Skipped[claudecode.ReasonUnreadable] == unreadable: // a disk that failed within a file
		result.Report(t.Path, 0, claudecode.ReasonUnreadable)
	}
	told(t.Size - done)
	return nil
}

// follow reads t while w does what was told already. It returns what ended either.
func (w *writer) follow(ctx context.Context, t claudecode.Transcript, summary *claudecode.Summary, told func(int64)) (read, failed error) {
	group, working := errgroup.WithContext(ctx)
	jobs := make(chan job, jobsAhead)
	group.Go(func() error { return w.work(working, jobs) })
	read = claudecode.Read(working, t, newSink(w, jobs, summary), summary, told)
	close(jobs)
	return read, group.Wait()
}

// work does jobs until there are no more. What comes behind a refusal is only read, so
// that it is counted.
func (w *writer) work(ctx context.Context, jobs <-chan job) error {
	var refused error
	for j := range jobs {
		if refused != nil {
			continue
		}
		if err := j(ctx); err != nil {
			if _, ok := refusal(err); !ok {
				return err
			}
			refused = err
		}
	}
	return refused
}

// refusal returns why the domain refused something, if it did: it is the fault of
// what it was told, and what else there is may well go in.
func refusal(err error) (claudecode.Reason, bool) {
	of, ok := errors.AsType[*domain.Error](err)
	if !ok || !slices.Contains([]domain.Kind{domain.KindConflict, domain.KindInvalid, domain.KindNotFound}, of.Kind) {
		return "", false
	}
	return claudecode.Reason(of.Code), true
}
