package prompt

import (
	"context"
	"time"

	"gatehouse/domain"
	"gatehouse/domain/plan"
)

// Admission is the record that a client id was used, and for what. It outlives
// everything but the task (AD-7).
type Admission struct {
	TaskID              string `bun:",pk"`
	ClientID            string `bun:",pk"`
	DeliveryID          string
	RequestedSessionID  string      // as submitted; the delivery has the one that got it
	Fingerprint         Fingerprint `bun:"type:jsonb"`
	ConsumedCommentRefs []plan.Ref  `bun:"type:jsonb"`
	CreatedAt           time.Time
}

// Receipt is the public record of an admission, with its delivery in its present
// state (AD-8).
type Receipt struct {
	Admission Admission
	Delivery  Delivery
}

// Receipt returns what a client id of a task admitted. [ErrAdmissionNotFound] means
// that nothing was accepted under it (AD-8).
func (s *Service) Receipt(ctx context.Context, taskID, clientID string) (Receipt, error) {
	if !domain.ValidClientID(clientID) {
		return Receipt{}, ErrAdmissionNotFound
	}
	return s.store.Receipt(ctx, taskID, clientID)
}
