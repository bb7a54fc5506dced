package storetest

import (
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"gatehouse/domain"
	"gatehouse/domain/event"
	"gatehouse/domain/plan"
	"gatehouse/domain/prompt"
	"gatehouse/domain/session"
)

// Attachments is what every prompt.Store must do with attachments (AD-10).
func Attachments(t *testing.T, open Open) {
	promptCases(t, open, map[string]func(*testing.T, *promptWorld){
		"AD-10 an admission claims what it names":            admitAttachments,
		"AD-10 what cannot be claimed rejects it all":        admitNoAttachments,
		"AD-10 an attachment is something to send":           admitAttachmentsAlone,
		"AD-3 a failed admission leaves them staged":         admitStaged,
		"AD-7 a replay asks for no attachment":               admitAttachmentsAgain,
		"AD-10 bytes are kept as they were sent":             stageBytes,
		"AD-10 a task holds 100 staged ones":                 stageMany,
		"AD-10 staging is for active tasks":                  stageArchived,
		"AD-10 a claimed one cannot be deleted":              deleteAttachment,
		"API-7 attachments page, oldest first":               listAttachments,
		"OP-3 AD-10 they expire by the database's clock":     expireAttachments,
		"AD-10 the expired ones are removed, in all tasks":   removeExpired,
		"AD-7 attachments outlive their session":             attachmentsOutlive,
		"PC-8 a deleted task takes its attachments with it":  attachmentsOfDeletedTask,
		"API-23 another task's attachment is none":           foreignAttachment,
		"an admission without attachments asks for none":     admitUnattached,
		"AD-10 ExpireAttachments ends when its context does": expireCancelled,
	})
	attachmentRaces(t, func(t *testing.T) *promptWorld { return newPromptWorld(t, newWorld(t, open)) })
}

// file is a file to stage.
func (w *promptWorld) file(name string) prompt.NewAttachment {
	return prompt.NewAttachment{TaskID: w.taskID, Name: name, MediaType: "text/plain; charset=utf-8", Content: []byte("bytes of " + name)}
}

// stage stages a file.
func (w *promptWorld) stage(t *testing.T, name string) prompt.Attachment {
	t.Helper()
	return stageWith(t, w.prompts, w.file(name))
}

// stageExpired stages a file whose time is over.
func (w *promptWorld) stageExpired(t *testing.T, name string) prompt.Attachment {
	t.Helper()
	return stageWith(t, w.expiring(-time.Minute), w.file(name))
}

// expiring is the service with another time for attachments.
func (w *promptWorld) expiring(after time.Duration) *prompt.Service {
	return prompt.NewService(prompt.Config{
		Store: w.store.Prompts(), Now: w.clock, Announce: event.NewAnnouncer(w.notices, nil), AttachmentExpiry: after,
	})
}

func stageWith(t *testing.T, s *prompt.Service, n prompt.NewAttachment) prompt.Attachment {
	t.Helper()
	a, err := s.Stage(t.Context(), n)
	if err != nil {
		t.Fatal(err)
	}
	return a
}

// with is a request that carries attachments, in that order.
func (w *promptWorld) with(clientID string, attachments ...prompt.Attachment) prompt.Request {
	r := w.request(clientID)
	for _, a := range attachments {
		r.AttachmentIDs = append(r.AttachmentIDs, a.ID)
	}
	return r
}

// attachments are those of the task, oldest first.
func (w *promptWorld) attachments(t *testing.T) []prompt.Attachment {
	t.Helper()
	list, err := w.store.Prompts().Attachments(t.Context(), w.taskID, nil, domain.MaxListItems)
	if err != nil {
		t.Fatal(err)
	}
	return list
}

func admitAttachments(t *testing.T, w *promptWorld) {
	first, second, third := w.stage(t, "a.txt"), w.stage(t, "b.txt"), w.stage(t, "ü.txt")
	r := w.with("c1", third, first)
	r.AttachmentIDs[0] = strings.ToUpper(r.AttachmentIDs[0])
	a := w.admit(t, r)
	want := []prompt.Attached{
		{ID: third.ID, Name: "ü.txt", MediaType: "text/plain; charset=utf-8", Bytes: int64(len("bytes of ü.txt"))},
		{ID: first.ID, Name: "a.txt", MediaType: "text/plain; charset=utf-8", Bytes: int64(len("bytes of a.txt"))},
	}
	stored, err := w.prompts.Delivery(t.Context(), a.Delivery.ID)
	if err != nil {
		t.Fatal(err)
	}
	for _, got := range [][]prompt.Attached{a.Delivery.Attachments, stored.Attachments} {
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("the delivery shows (-want +got):\n%s", diff)
		}
	}
	first.DeliveryID, first.ExpiresAt = &a.Delivery.ID, nil
	third.DeliveryID, third.ExpiresAt = &a.Delivery.ID, nil
	if diff := cmp.Diff([]prompt.Attachment{first, second, third}, w.attachments(t)); diff != "" {
		t.Errorf("the task has (-want +got):\n%s", diff)
	}
	if _, content, err := w.prompts.AttachmentContent(t.Context(), w.taskID, first.ID); err != nil || string(content) != "bytes of a.txt" {
		t.Errorf("a claimed one has %q, %v", content, err)
	}
}

func admitNoAttachments(t *testing.T, w *promptWorld) {
	other := newPromptWorld(t, w.world)
	staged, foreign, expired, claimed := w.stage(t, "a"), other.stage(t, "b"), w.stageExpired(t, "c"), w.stage(t, "d")
	w.admit(t, w.with("first", claimed))
	w.acknowledge(t, w.pass(t), prompt.OutcomeFailed)
	c := w.comment(t)
	for name, bad := range map[string]struct {
		prompt.Attachment
		want error
	}{
		"missing":         {prompt.Attachment{ID: domain.NewID()}, prompt.ErrAttachmentNotFound},
		"of another task": {foreign, prompt.ErrAttachmentNotFound},
		"expired":         {expired, prompt.ErrAttachmentNotFound},
		"claimed":         {claimed, prompt.ErrAttachmentClaimed},
	} {
		t.Run(name, func(t *testing.T) {
			w.notices.take()
			r := w.with("c1", staged, bad.Attachment)
			r.Refs = []plan.Ref{c.Ref()}
			wantErr(t, w.refused(t, r), bad.want)
		})
	}
	if list := other.attachments(t); len(list) != 1 || list[0].DeliveryID != nil {
		t.Errorf("the other task has %+v", list)
	}
}

func admitAttachmentsAlone(t *testing.T, w *promptWorld) {
	r := w.with("c1", w.stage(t, "a"))
	r.Content = " \n"
	if a := w.admit(t, r); a.Delivery.Content != " \n" || len(a.Delivery.Attachments) != 1 {
		t.Errorf("admitted %+v", a.Delivery)
	}
	r = w.with("q1", w.stage(t, "b"))
	r.Content = ""
	if a := w.admitQueued(t, r); a.Delivery.Content != "" || len(a.Delivery.Attachments) != 1 {
		t.Errorf("queued %+v", a.Delivery)
	}
	for _, a := range w.attachments(t) {
		if a.DeliveryID == nil {
			t.Errorf("%s is not claimed", a.Name)
		}
	}
}

// Attachments are the last to be judged, and claimed with all the rest or not at all.
func admitStaged(t *testing.T, w *promptWorld) {
	a, c := w.stage(t, "a"), w.comment(t)
	r := w.with("c1", a)
	r.Refs = []plan.Ref{c.Ref()}
	missing := r
	missing.AttachmentIDs = []string{domain.NewID()}

	stale := missing
	stale.Refs = []plan.Ref{{ID: c.ID, Version: 2}}
	wantErr(t, w.refused(t, stale), plan.ErrCommentsChanged)
	large := missing
	large.Content = strings.Repeat("x", domain.MaxPromptContent)
	wantErr(t, w.refused(t, large), prompt.ErrTooLarge)
	wantErr(t, w.refused(t, missing), prompt.ErrAttachmentNotFound)
	elsewhere := r
	elsewhere.SessionID = domain.NewID()
	wantErr(t, w.refused(t, elsewhere), session.ErrNotFound)
	unexpected := r
	unexpected.ExpectedState = new(session.StateIdle)
	wantErr(t, w.refused(t, unexpected), session.ErrUnavailable)
	w.admit(t, r)
}

func admitAttachmentsAgain(t *testing.T, w *promptWorld) {
	a, b := w.stage(t, "a"), w.stage(t, "b")
	first := w.admit(t, w.with("c1", a, b))
	again := w.admit(t, w.with("c1", a, b))
	if diff := cmp.Diff(first.Delivery.Attachments, again.Delivery.Attachments); diff != "" || !again.Replayed {
		t.Errorf("replay answers (-first +again):\n%s", diff)
	}
	w.notices.take()
	conflict, ok := errors.AsType[*prompt.ConflictError](w.refused(t, w.with("c1", b, a)))
	if !ok || !cmp.Equal(conflict.DifferingFields, []string{"attachment_ids"}) {
		t.Errorf("in another order: %+v", conflict)
	}
}

func admitUnattached(t *testing.T, w *promptWorld) {
	a := w.stage(t, "a")
	if d := w.admit(t, w.request("c1")).Delivery; len(d.Attachments) > 0 || d.Attachments == nil {
		t.Errorf("delivery has %#v", d.Attachments)
	}
	if list := w.attachments(t); !cmp.Equal(list, []prompt.Attachment{a}) {
		t.Errorf("left %+v", list)
	}
}
