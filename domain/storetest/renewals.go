package storetest

import (
	"errors"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"gatehouse/domain"
	"gatehouse/domain/prompt"
)

// Renewals is what a store must do for leases that are renewed.
func Renewals(t *testing.T, open Open) {
	promptCases(t, open, map[string]func(*testing.T, *promptWorld){
		"a renewal moves the end of the lease alone":          renews,
		"DL-1 a lease that is over cannot be renewed":         renewsTooLate,
		"DL-1 the old owner of a lease is refused everywhere": oldOwner,
		"DL-2 past the boundary there is no lease":            renewsAttempted,
		"forms of a renewal":                                  renewalForms,
	})
}

func (w *promptWorld) renew(t *testing.T, r prompt.Reservation, seconds *int) (prompt.Renewal, error) {
	t.Helper()
	return w.prompts.Renew(t.Context(), w.taskID, r.Delivery.ID, r.Token, seconds)
}

func renews(t *testing.T, w *promptWorld) {
	w.admit(t, w.request("c1"))
	r := w.reserve(t)
	w.notices.take()
	before := w.state(t)
	var last time.Time
	for _, seconds := range []*int{new(200), new(domain.MaxLeaseSeconds), new(1), nil} {
		renewed, err := w.renew(t, r, seconds)
		if err != nil {
			t.Fatal(err)
		}
		lease := domain.DefaultLease
		if seconds != nil {
			lease = *seconds
		}
		var now time.Time
		w.tx(t, func(tx prompt.Tx) (err error) { now, err = tx.Now(t.Context()); return err })
		if left := renewed.LeaseExpiresAt.Sub(now); left > time.Duration(lease)*time.Second || renewed.LeaseExpiresAt.Equal(last) {
			t.Errorf("renewed for %d s, it ends in %s", lease, left)
		}
		if last = renewed.LeaseExpiresAt; renewed.Delivery.State != prompt.StateReserved || !renewed.Delivery.LeaseExpiresAt.Equal(last) {
			t.Errorf("renewed as %+v", renewed.Delivery)
		}
	}
	after := w.state(t)
	if !after.Deliveries[0].LeaseExpiresAt.Equal(last) {
		t.Errorf("stored %s, answered %s", after.Deliveries[0].LeaseExpiresAt, last)
	}
	after.Deliveries[0].LeaseExpiresAt = before.Deliveries[0].LeaseExpiresAt
	if diff := cmp.Diff(before, after, cmpopts.EquateEmpty()); diff != "" {
		t.Errorf("a renewal changed more than the lease (-before +after):\n%s", diff)
	}
	if told := w.notices.take(); len(told) > 0 {
		t.Errorf("announced %+v", told)
	}
	w.nothing(t)
	w.attempt(t, r)
}

func renewsTooLate(t *testing.T, w *promptWorld) {
	w.admit(t, w.request("c1"))
	r := w.reserve(t)
	w.notices.take()
	w.expire(t, r)
	before := w.state(t)
	_, err := w.renew(t, r, nil)
	wantErr(t, err, prompt.ErrLeaseLost)
	w.wantState(t, before)
}

// oldOwner follows a token through all that may become of a reservation whose lease
// is over. None of its calls does anything, at any time.
func oldOwner(t *testing.T, w *promptWorld) {
	w.admit(t, w.request("c1"))
	old := w.reserve(t)
	w.expire(t, old)
	w.refusedOwner(t, old, "after its lease")
	if err := w.prompts.Recover(t.Context()); err != nil {
		t.Fatal(err)
	}
	w.refusedOwner(t, old, "after recovery")
	next := w.reserve(t)
	w.refusedOwner(t, old, "after the next reserve")
	if _, err := w.renew(t, next, nil); err != nil {
		t.Errorf("the next owner: %v", err)
	}
	w.attempt(t, next)
	w.refusedOwner(t, old, "after the attempt of the next")
	w.acknowledge(t, next, prompt.OutcomeUnknown)
	w.refusedOwner(t, old, "after its acknowledgement")
}

// refusedOwner makes every call of an owner, which must be lease_lost and change nothing.
func (w *promptWorld) refusedOwner(t *testing.T, r prompt.Reservation, when string) {
	t.Helper()
	w.notices.take()
	before := w.state(t)
	id := r.Delivery.ID
	for name, call := range map[string]func() error{
		"renew":   func() error { _, err := w.renew(t, r, nil); return err },
		"attempt": func() error { _, err := w.prompts.Attempt(t.Context(), w.taskID, id, r.Token); return err },
		"release": func() error { _, err := w.prompts.Release(t.Context(), w.taskID, id, r.Token, nil); return err },
		"acknowledge": func() error {
			_, err := w.prompts.Acknowledge(t.Context(), w.taskID, id, r.Token, prompt.OutcomeSucceeded, nil)
			return err
		},
	} {
		if err := call(); !errors.Is(err, prompt.ErrLeaseLost) {
			t.Errorf("%s, %s: %v", when, name, err)
		}
	}
	w.wantState(t, before)
}

func renewsAttempted(t *testing.T, w *promptWorld) {
	w.admit(t, w.request("c1"))
	r := w.pass(t)
	w.notices.take()
	before := w.state(t)
	_, err := w.renew(t, r, nil)
	wantErr(t, err, prompt.ErrAttempted)
	w.wantState(t, before)
}

func renewalForms(t *testing.T, w *promptWorld) {
	w.admit(t, w.request("c1"))
	r := w.reserve(t)
	for _, seconds := range []int{0, -1, domain.MaxLeaseSeconds + 1} {
		_, err := w.renew(t, r, &seconds)
		wantErr(t, err, domain.ErrValidation)
	}
	other := newPromptWorld(t, w.world)
	_, err := other.renew(t, r, nil)
	wantErr(t, err, prompt.ErrDeliveryNotFound)
	r.Token += "x"
	_, err = w.renew(t, r, nil)
	wantErr(t, err, prompt.ErrLeaseLost)
}
