package plan

import (
	"context"
	"log/slog"

	"gatehouse/domain"
	"gatehouse/domain/event"
	"gatehouse/domain/task"
)

// Lease is the task admission lease. Where a turn-start hook is configured, what
// changes plans and comments takes it too, so that nothing moves between the
// preflight of an admission and its transaction.
type Lease interface {
	// WithLease runs fn while it holds the lease of a task. fn runs its transactions
	// with the context it is given.
	WithLease(ctx context.Context, taskID string, fn func(ctx context.Context) error) error
}

// Service is the set of operations on plans and pending comments. Who calls has
// authorised the caller for the task.
type Service struct {
	store    Store
	now      domain.Clock
	announce *event.Announcer
	lease    Lease
	observer Observer
}

// NewService returns a Service on store. lease is nil when no hook is configured:
// the row lock is enough then.
func NewService(store Store, now domain.Clock, announce *event.Announcer, lease Lease) *Service {
	return &Service{store, now, announce, lease, nil}
}

// outcome says what a transaction changed. The zero value is nothing: neither a
// stamp nor an announcement.
type outcome struct {
	plan     bool
	comments bool
	attrs    []slog.Attr // ids and numbers for the log, should publishing fail (PC-10)
}

// change is what to stamp and tell, nil for nothing.
func (o outcome) change() *event.Change {
	if !o.plan && !o.comments {
		return nil
	}
	return &event.Change{Plan: o.plan, Comments: o.comments}
}

// ofPlan is the outcome of a change of p.
func ofPlan(p Plan) outcome {
	return outcome{plan: true, attrs: []slog.Attr{slog.String("plan_id", p.ID), slog.Int64("version", p.Version)}}
}

// ofComments is the outcome of a change to s.
func ofComments(s Snapshot) outcome {
	return outcome{comments: true, attrs: []slog.Attr{
		slog.String("plan_id", s.PlanID),
		slog.Int64("revision", s.Revision),
		slog.Int("comments", len(s.Comments)),
	}}
}

// mutate runs decide in a transaction that holds the row lock of an active task
// (PC-5, PC-12), stamps what it changed, and tells after the commit (PC-10).
func (s *Service) mutate(ctx context.Context, taskID string, decide func(ctx context.Context, tx Tx) (outcome, error)) error {
	var done outcome
	var notice *event.Notice
	err := s.underLease(ctx, taskID, func(ctx context.Context) (err error) {
		notice, err = task.Stamped(ctx, s.store.InTx, taskID, func(ctx context.Context, tx Tx, t task.Task) (_ *event.Change, err error) {
			if err := t.RequireActive(); err != nil {
				return nil, err
			}
			done, err = decide(ctx, tx)
			return done.change(), err
		})
		return err
	})
	if err == nil && notice != nil {
		s.announce.Announce(ctx, *notice, done.attrs...)
	}
	return err
}

func (s *Service) underLease(ctx context.Context, taskID string, run func(ctx context.Context) error) error {
	if s.lease == nil {
		return run(ctx)
	}
	return s.lease.WithLease(ctx, taskID, run)
}
