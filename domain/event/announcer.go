package event

import (
	"context"
	"log/slog"
)

// Announcer publishes notices for the operations of the domain. A failure to
// publish is logged here, with ids and numbers and never with text, and does not
// fail the operation (PC-10).
type Announcer struct {
	publisher Publisher
	log       *slog.Logger
}

// NewAnnouncer returns an Announcer. A nil publisher announces to nobody.
func NewAnnouncer(p Publisher, log *slog.Logger) *Announcer {
	return &Announcer{publisher: p, log: log}
}

// Announce publishes n. attrs are ids, revisions and counts for the log, should
// publishing fail. The request may be over: its cancellation is not taken along.
func (a *Announcer) Announce(ctx context.Context, n Notice, attrs ...slog.Attr) {
	if a.publisher == nil {
		return
	}
	ctx = context.WithoutCancel(ctx)
	if err := a.publisher.Publish(ctx, n); err != nil {
		attrs = append(attrs, slog.String("task_id", n.TaskID), slog.Int64("seq", n.Seq), slog.Any("error", err))
		a.log.LogAttrs(ctx, slog.LevelWarn, "change not published", attrs...)
	}
}
