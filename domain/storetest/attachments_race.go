package storetest

import (
	"errors"
	"testing"

	"gatehouse/domain/prompt"
	"gatehouse/domain/session"
)

// AttachmentsOfTwo shows that an attachment has one owner whatever processes do: open
// returns two stores on one database, with nothing but the database between them.
func AttachmentsOfTwo(t *testing.T, open func(tb testing.TB) (a, b Store)) {
	t.Helper()
	attachmentRaces(t, func(t *testing.T) *promptWorld { return newWorldOfTwo(t, open) })
}

// attachmentRaces shows what only concurrency shows.
func attachmentRaces(t *testing.T, world func(t *testing.T) *promptWorld) {
	for name, test := range map[string]func(*testing.T, *promptWorld){
		"AD-10 one of two admissions gets an attachment": raceClaims,
		"AD-10 an admission and a deletion":              raceDeletion,
	} {
		t.Run(name, func(t *testing.T) { test(t, world(t)) })
	}
}

// Two prompts to two sessions of one task share an attachment: one takes all it
// names, the other nothing.
func raceClaims(t *testing.T, w *promptWorld) {
	second := w.session(w.taskID, session.KindMain, nil)
	for i := range 25 {
		mine, shared, yours := w.stage(t, "mine"), w.stage(t, "shared"), w.stage(t, "yours")
		requests := [2]prompt.Request{w.with(clientID(2*i), mine, shared), w.with(clientID(2*i+1), yours, shared)}
		requests[1].SessionID = second.ID
		var answers [2]prompt.Admitted
		winner, loser, errs := contest(func(n int) (err error) {
			answers[n], err = w.service(n).AdmitPrompt(t.Context(), requests[n])
			return err
		})
		if errs[winner] != nil || !errors.Is(errs[loser], prompt.ErrAttachmentClaimed) {
			t.Fatalf("race %d: %v and %v", i, errs[0], errs[1])
		}
		left := [2]prompt.Attachment{mine, yours}[loser]
		owners := map[string]*string{}
		for _, a := range w.attachments(t) {
			owners[a.ID] = a.DeliveryID
		}
		for _, a := range answers[winner].Delivery.Attachments {
			if owner := owners[a.ID]; owner == nil || *owner != answers[winner].Delivery.ID {
				t.Errorf("race %d: %s belongs to %v", i, a.Name, owner)
			}
		}
		if owners[left.ID] != nil {
			t.Errorf("race %d: the loser took %s", i, left.Name)
		}
		w.settle(t, answers[winner].Delivery.SessionID)
	}
}

// Whoever is first wins; the other is told why it lost.
func raceDeletion(t *testing.T, w *promptWorld) {
	for i := range 15 {
		a := w.stage(t, "a")
		admitErr, deleteErr := atOnce(
			func() error { _, err := w.prompts.AdmitPrompt(t.Context(), w.with(clientID(i), a)); return err },
			func() error { return w.elsewhere.DeleteAttachment(t.Context(), w.taskID, a.ID) })
		_, _, err := w.prompts.AttachmentContent(t.Context(), w.taskID, a.ID)
		switch {
		case admitErr == nil && errors.Is(deleteErr, prompt.ErrAttachmentClaimed) && err == nil:
			w.settle(t, w.sessionID)
		case deleteErr == nil && errors.Is(admitErr, prompt.ErrAttachmentNotFound) && errors.Is(err, prompt.ErrAttachmentNotFound):
		default:
			t.Fatalf("admission: %v, deletion: %v, reading: %v", admitErr, deleteErr, err)
		}
	}
}
