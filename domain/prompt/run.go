package prompt

import (
	"context"
	"errors"
	"strconv"

	"gatehouse/domain"
	"gatehouse/domain/event"
	"gatehouse/domain/plan"
	"gatehouse/domain/session"
)

// RunRequest asks for one comment to be sent to the primary session of its task, in
// plan mode (AD-9).
type RunRequest struct {
	TaskID    string // canonical
	CommentID string // as it was named
	Version   int64  // that was seen, from 1
	ClientID  string // the caller's id, unique within the task (AD-7)
	Content   string // goes below the comment; at most 1 MiB, may be empty
}

// Route is the primary session of a task as Run finds it.
type Route struct {
	SessionID string
	State     session.State
	Owed      bool // deliveries are unfinished
}

// transport is the one that serves the session soonest. A nil Route has none; who
// asks for it is refused on either, and no hook has to be asked before that.
func (r *Route) transport() Kind {
	if r != nil && r.State.Promptable() && !r.Owed {
		return KindDirect
	}
	return KindQueued
}

// Run sends a comment to the primary session: at once when it can take a prompt at
// once, else by its queue (AD-9). What was found is guarded: when the primary session
// or its state has changed by the time of the admission, it is looked for once more,
// and only once. A repeated client id is answered with what it admitted, wherever the
// comment would go now (AD-7).
//
// Errors: [plan.ErrCommentNotFound], [ErrNoPrimary], and those of an admission.
func (s *Service) Run(ctx context.Context, run RunRequest) (Admitted, error) {
	run, err := run.checked()
	if err != nil {
		return Admitted{}, err
	}
	r, a, notice, err := s.tryRun(ctx, run)
	if r.misrouted(err) {
		r, a, notice, err = s.tryRun(ctx, run)
	}
	return s.concluded(ctx, r.Kind, a, notice, err)
}

// checked is what the request alone tells: the canonical request, a
// [domain.ValidationError] with every problem found, or [plan.ErrCommentNotFound] for
// an id that no comment can have.
func (run RunRequest) checked() (RunRequest, error) {
	id, ok := domain.ParseID(run.CommentID)
	if !ok {
		return RunRequest{}, plan.ErrCommentNotFound
	}
	run.CommentID = id
	var p domain.Problems
	checkClientID(&p, "/body/client_admission_id", run.ClientID)
	if run.Version < 1 {
		p.Add("/body/version", domain.ProblemRange, "must be at least 1")
	}
	checkContent(&p, run.Content, false)
	return run, p.Err()
}

// tryRun looks for the primary session and tries to admit to it. It also returns the
// request that came of it.
func (s *Service) tryRun(ctx context.Context, run RunRequest) (r Request, a Admitted, n event.Notice, err error) {
	route, err := s.store.Route(ctx, run.TaskID)
	r = run.request(route)
	if err != nil {
		return r, Admitted{}, event.Notice{}, err
	}
	a, n, err = s.tryAdmit(ctx, r)
	return r, a, n, err
}

// request is the prompt that Run sends by a route.
func (run RunRequest) request(route *Route) Request {
	r := Request{
		Kind:           route.transport(),
		TaskID:         run.TaskID,
		ClientID:       run.ClientID,
		Content:        run.Content,
		Refs:           []plan.Ref{{ID: run.CommentID, Version: run.Version}},
		RequirePrimary: true,
		PlanMode:       true,
		run:            &run,
	}
	if route != nil {
		r.SessionID = route.SessionID
	}
	return r
}

// noSession is why a request has no session in the scene.
func (r Request) noSession() error {
	if r.run != nil && r.SessionID == "" {
		return ErrNoPrimary
	}
	return session.ErrNotFound
}

// misrouted reports whether err says that a route is not what it was when it was
// chosen.
func (r Request) misrouted(err error) bool {
	return errors.Is(err, ErrPrimaryChanged) || errors.Is(err, session.ErrNotFound) ||
		r.Kind == KindDirect && errors.Is(err, session.ErrUnavailable)
}

// fingerprint is of what was asked for, not of the route: a retry is one, whatever
// would be chosen for it.
func (run RunRequest) fingerprint() Fingerprint {
	f := Fingerprint{}
	f.add("transport", "run")
	f.add("comment_id", run.CommentID)
	f.add("version", strconv.FormatInt(run.Version, 10))
	f.add("content", run.Content)
	return f
}
