package feed

import (
	"context"
	"errors"

	"gatehouse/domain/access"
	"gatehouse/domain/task"
)

// Reason is why a stream ended.
type Reason string

// The reasons.
const (
	ReasonLeft     Reason = "left"     // the follower went
	ReasonSlow     Reason = "slow"     // it did not read (EV-5)
	ReasonRevoked  Reason = "revoked"  // its token is in force no more (EV-6)
	ReasonDeleted  Reason = "deleted"  // the task is gone (EV-6)
	ReasonStopping Reason = "stopping" // the server ends (EV-8)
	ReasonFailed   Reason = "failed"   // the database could not be read
)

// Reasons lists the reasons.
var Reasons = []Reason{ReasonLeft, ReasonSlow, ReasonRevoked, ReasonDeleted, ReasonStopping, ReasonFailed}

// ReasonOf is the reason that an error of [Stream.Next] means.
func ReasonOf(err error) Reason {
	switch {
	case errors.Is(err, context.Canceled):
		return ReasonLeft
	case errors.Is(err, access.ErrUnauthenticated):
		return ReasonRevoked
	case errors.Is(err, task.ErrNotFound):
		return ReasonDeleted
	case errors.Is(err, ErrEnded):
		return ReasonStopping
	default:
		return ReasonFailed
	}
}
