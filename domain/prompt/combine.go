package prompt

import (
	"context"
	"slices"
	"strings"
	"time"

	"gatehouse/domain"
	"gatehouse/domain/plan"
	"gatehouse/domain/session"
)

// combine makes one pending delivery of sources, which are in order of position:
// their texts, comments and attachments, and the mode and model of the oldest (DL-8).
// A blank text, of a source that sends attachments only, is left out. It goes to the
// place before lowest, the first that is still taken, and consumes no new comments.
//
// Errors: [domain.ValidationError] for too many attachments, [TooLargeError].
func combine(sources []*Delivery, s session.Session, lowest int64, now time.Time) (Delivery, error) {
	refs, attachments := []plan.Ref{}, []Attached{}
	var texts []string
	for _, source := range sources {
		refs = union(refs, source.PlanCommentRefs)
		attachments = union(attachments, source.Attachments)
		if !domain.IsBlank(source.Content) {
			texts = append(texts, source.Content)
		}
	}
	if len(attachments) > domain.MaxAttachments {
		return Delivery{}, domain.Invalid("/body/entry_ids", domain.ProblemTooMany, "must have at most %d attachments together", domain.MaxAttachments)
	}
	text := strings.Join(texts, foldSeparator)
	if err := checkSize(text); err != nil {
		return Delivery{}, err
	}
	oldest := sources[0]
	return Delivery{
		ID:              domain.NewID(),
		TaskID:          s.TaskID,
		SessionID:       s.ID,
		IncarnationID:   s.IncarnationID,
		Kind:            KindCombined,
		State:           StatePending,
		Position:        lowest - 1,
		Content:         text,
		PlanMode:        oldest.PlanMode,
		Model:           oldest.Model,
		Attachments:     attachments,
		PlanCommentRefs: refs,
		Metadata:        combinedMetadata(refs),
		Version:         1,
		PendingAt:       now,
		CreatedAt:       now,
		UpdatedAt:       now,
	}, nil
}

// union is a with what b has and a has not, in order.
func union[T comparable](a, b []T) []T {
	for _, item := range b {
		if !slices.Contains(a, item) {
			a = append(a, item)
		}
	}
	return a
}

// join makes d a source of combination.
func (d *Delivery) join(combination Delivery) {
	d.become(StateCombined, combination.CreatedAt)
	d.CombinedInto = &combination.ID
}

// leave puts a source back to its place.
func (d *Delivery) leave(at time.Time) {
	d.become(StatePending, at)
	d.CombinedInto = nil
}

// follow takes over what became of the combination that d is in. A source that has a
// transcript row of its own keeps it.
func (d *Delivery) follow(combination Delivery) {
	d.become(combination.State, combination.UpdatedAt)
	d.TurnID = combination.TurnID
	if d.MessageID == nil {
		d.MessageID = combination.MessageID
	}
	d.Outcome, d.Detail = combination.Outcome, combination.Detail
	d.RequeuedAs = combination.RequeuedAs
}

// updateWhole writes d where the stored state is from, and lets its sources follow,
// all in one transaction: a combination and its sources never differ (DL-8).
func updateWhole(ctx context.Context, tx Tx, d Delivery, from State) error {
	if err := tx.UpdateDelivery(ctx, d, from); err != nil || d.Kind != KindCombined {
		return err
	}
	return moveSources(ctx, tx, d, func(source *Delivery) { source.follow(d) })
}

// moveSources does the same to every source of a combination.
func moveSources(ctx context.Context, tx Tx, combination Delivery, move func(source *Delivery)) error {
	sources, err := tx.Sources(ctx, combination.ID)
	if err != nil {
		return err
	}
	for _, source := range sources {
		from := source.State
		move(&source)
		if err := tx.UpdateDelivery(ctx, source, from); err != nil {
			return err
		}
	}
	return nil
}
