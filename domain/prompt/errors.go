package prompt

import (
	"fmt"
	"strings"

	"gatehouse/domain"
	"gatehouse/domain/session"
)

// Failures of this package.
var (
	ErrAdmissionNotFound  = &domain.Error{Kind: domain.KindNotFound, Code: "admission_not_found", Detail: "Nothing was accepted under this id; comments it named are still pending."}
	ErrAdmissionConflict  = &domain.Error{Kind: domain.KindConflict, Code: "admission_conflict", Detail: "The client id admitted another request; differing_fields says where they differ."}
	ErrPrimaryChanged     = &domain.Error{Kind: domain.KindConflict, Code: "primary_session_changed", Detail: "The session is not the primary one of its task."}
	ErrNoPrimary          = &domain.Error{Kind: domain.KindConflict, Code: "no_primary_session", Detail: "The task has no primary session; set one, or send a prompt to a session."}
	ErrTooLarge           = &domain.Error{Kind: domain.KindInvalid, Code: "prompt_too_large", Detail: "The prompt is larger than maximum bytes of UTF-8."}
	ErrAttachmentNotFound = &domain.Error{Kind: domain.KindNotFound, Code: "attachment_not_found", Detail: "There is no such attachment."}
	ErrAttachmentClaimed  = &domain.Error{Kind: domain.KindConflict, Code: "attachment_claimed", Detail: "A prompt has taken the attachment; it goes with no other, and stays."}
	ErrDeliveryNotFound   = &domain.Error{Kind: domain.KindNotFound, Code: "delivery_not_found", Detail: "There is no such delivery."}
	ErrLeaseLost          = &domain.Error{Kind: domain.KindConflict, Code: "lease_lost", Detail: "The reservation is not yours any more; reserve again."}
	ErrAttempted          = &domain.Error{Kind: domain.KindConflict, Code: "delivery_attempted", Detail: "The delivery was attempted and is never sent again; acknowledge it."}
	ErrHook               = domain.ErrUnavailable.With("The turn-start hook refused the prompt or could not be asked. Nothing was stored, and the id can be used again.")
	ErrNotAttempted       = &domain.Error{Kind: domain.KindConflict, Code: "delivery_not_attempted", Detail: "Only an attempted delivery can be settled."}
)

// ConflictError is [ErrAdmissionConflict] with what differs (AD-7).
type ConflictError struct{ DifferingFields []string } // names of [Fingerprint], sorted

// Error implements error.
func (e *ConflictError) Error() string {
	return ErrAdmissionConflict.Code + ": " + strings.Join(e.DifferingFields, ", ")
}

// Unwrap makes it match the sentinel.
func (e *ConflictError) Unwrap() error { return ErrAdmissionConflict }

// PrimaryChangedError is [ErrPrimaryChanged] with the primary session as it is;
// both fields are nil when the task has none (AD-4).
type PrimaryChangedError struct {
	SessionID *string
	State     *session.State
}

// Error implements error.
func (e *PrimaryChangedError) Error() string { return ErrPrimaryChanged.Error() }

// Unwrap makes it match the sentinel.
func (e *PrimaryChangedError) Unwrap() error { return ErrPrimaryChanged }

// TooLargeError is [ErrTooLarge] with the sizes, in bytes of UTF-8.
type TooLargeError struct {
	Maximum int64 // inclusive
	Actual  int64 // of the content alone, or of the rendered prompt
}

// Error implements error.
func (e *TooLargeError) Error() string {
	return fmt.Sprintf("%s: %d of at most %d bytes", ErrTooLarge.Code, e.Actual, e.Maximum)
}

// Unwrap makes it match the sentinel.
func (e *TooLargeError) Unwrap() error { return ErrTooLarge }

// checkSize is a [TooLargeError] for a text that no prompt may have.
func checkSize(text string) error {
	if len(text) > domain.MaxPromptContent {
		return &TooLargeError{domain.MaxPromptContent, int64(len(text))}
	}
	return nil
}
