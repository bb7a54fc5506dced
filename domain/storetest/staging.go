package storetest

import (
	"bytes"
	"context"
	"errors"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"gatehouse/domain"
	"gatehouse/domain/prompt"
	"gatehouse/domain/task"
)

func stageBytes(t *testing.T, w *promptWorld) {
	all := make([]byte, domain.MaxAttachmentBytes)
	for i := range all {
		all[i] = byte(i * i >> 3)
	}
	for _, content := range [][]byte{{0}, []byte("\x00\xff\xfe ' $1 ?? \\x00 \r\n"), all} {
		n := w.file("a")
		n.Content = content
		made := stageWith(t, w.prompts, n)
		got, stored, err := w.prompts.AttachmentContent(t.Context(), w.taskID, made.ID)
		if err != nil || !bytes.Equal(stored, content) {
			t.Errorf("of %d bytes %d came back: %v", len(content), len(stored), err)
		}
		if diff := cmp.Diff(made, got); diff != "" || got.Bytes != int64(len(content)) {
			t.Errorf("stored (-answered +stored):\n%s", diff)
		}
	}
	if told := w.notices.take(); len(told) > 0 {
		t.Errorf("announced %+v", told)
	}
}

func stageMany(t *testing.T, w *promptWorld) {
	w.stageExpired(t, "expired")
	w.admit(t, w.with("c1", w.stage(t, "claimed")))
	first := w.stage(t, "0")
	for i := 1; i < domain.MaxStaged; i++ {
		w.stage(t, clientID(i))
	}
	_, err := w.prompts.Stage(t.Context(), w.file("one more"))
	invalid, ok := errors.AsType[*domain.ValidationError](err)
	if !ok || invalid.Problems[0].Field != "/body" || invalid.Problems[0].Code != domain.ProblemTooMany {
		t.Errorf("one too many: %v", err)
	}
	if err := w.prompts.DeleteAttachment(t.Context(), w.taskID, first.ID); err != nil {
		t.Fatal(err)
	}
	w.stage(t, "in its place")
}

func stageArchived(t *testing.T, w *promptWorld) {
	a := w.stage(t, "a")
	w.archive(t, true)
	_, err := w.prompts.Stage(t.Context(), w.file("b"))
	wantErr(t, err, task.ErrArchived)
	wantErr(t, w.prompts.DeleteAttachment(t.Context(), w.taskID, a.ID), task.ErrArchived)
	if list := w.attachments(t); !cmp.Equal(list, []prompt.Attachment{a}) {
		t.Errorf("left %+v", list)
	}
	gone := w.file("c")
	gone.TaskID = domain.NewID()
	_, err = w.prompts.Stage(t.Context(), gone)
	wantErr(t, err, task.ErrNotFound)
}

func deleteAttachment(t *testing.T, w *promptWorld) {
	staged, claimed, expired := w.stage(t, "a"), w.stage(t, "b"), w.stageExpired(t, "c")
	w.admit(t, w.with("c1", claimed))
	remove := func(id string) error { return w.prompts.DeleteAttachment(t.Context(), w.taskID, id) }
	wantErr(t, remove(claimed.ID), prompt.ErrAttachmentClaimed)
	wantErr(t, remove(expired.ID), prompt.ErrAttachmentNotFound)
	wantErr(t, remove(domain.NewID()), prompt.ErrAttachmentNotFound)
	wantErr(t, remove(staged.ID), nil)
	wantErr(t, remove(staged.ID), prompt.ErrAttachmentNotFound)
	if list := w.attachments(t); len(list) != 1 || list[0].ID != claimed.ID {
		t.Errorf("left %+v", list)
	}
	_, _, err := w.prompts.AttachmentContent(t.Context(), w.taskID, staged.ID)
	wantErr(t, err, prompt.ErrAttachmentNotFound)
}

func listAttachments(t *testing.T, w *promptWorld) {
	var want []string
	for i := range 5 {
		want = append(want, w.stage(t, clientID(i)).ID)
	}
	got := listed(t, 2, func(r domain.PageRequest) (domain.Page[prompt.Attachment], error) {
		return w.prompts.Attachments(t.Context(), w.taskID, r)
	}, func(a prompt.Attachment) string { return a.ID })
	if !cmp.Equal(got, want) {
		t.Errorf("listed %v, want %v", got, want)
	}
}

// The clock of the service is years ahead of the database's: what it said would have
// expired long ago.
func expireAttachments(t *testing.T, w *promptWorld) {
	kept, gone := w.stage(t, "a"), w.stageExpired(t, "b")
	if list := w.attachments(t); !cmp.Equal(list, []prompt.Attachment{kept}) {
		t.Errorf("listed %+v", list)
	}
	_, _, err := w.prompts.AttachmentContent(t.Context(), w.taskID, gone.ID)
	wantErr(t, err, prompt.ErrAttachmentNotFound)
	var now time.Time
	w.tx(t, func(tx prompt.Tx) (err error) {
		now, err = tx.Now(t.Context())
		return err
	})
	if left := kept.ExpiresAt.Sub(now); left <= 0 || left > domain.DefaultAttachmentExpiry {
		t.Errorf("expires in %s", left)
	}
	w.admit(t, w.with("c1", kept))
}

func removeExpired(t *testing.T, w *promptWorld) {
	other := newPromptWorld(t, w.world)
	kept, claimed := w.stage(t, "kept"), w.stage(t, "claimed")
	d := w.admit(t, w.with("c1", claimed)).Delivery
	const many = 23
	for i := range many {
		w.stageExpired(t, clientID(i))
	}
	other.stageExpired(t, "other")
	other.archive(t, true)
	w.notices.take()
	for _, want := range []int{many + 1, 0} {
		if n, err := w.prompts.ExpireAttachments(t.Context()); err != nil || n != want {
			t.Errorf("removed %d, %v, want %d", n, err, want)
		}
	}
	w.tx(t, func(tx prompt.Tx) error {
		n, err := tx.StagedAttachments(t.Context(), w.taskID, time.Time{})
		if n != 1 {
			t.Errorf("%d are stored and unclaimed", n)
		}
		return err
	})
	claimed.DeliveryID, claimed.ExpiresAt = &d.ID, nil
	if diff := cmp.Diff([]prompt.Attachment{kept, claimed}, w.attachments(t)); diff != "" {
		t.Errorf("left (-want +got):\n%s", diff)
	}
	if told := w.notices.take(); len(told) > 0 {
		t.Errorf("announced %+v", told)
	}
}

func expireCancelled(t *testing.T, w *promptWorld) {
	w.stageExpired(t, "a")
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if n, err := w.prompts.ExpireAttachments(ctx); n != 0 || !errors.Is(err, context.Canceled) {
		t.Errorf("removed %d, %v", n, err)
	}
}

func attachmentsOutlive(t *testing.T, w *promptWorld) {
	staged, claimed := w.stage(t, "a"), w.stage(t, "b")
	w.admit(t, w.with("c1", claimed))
	w.deleteSession(t)
	for _, a := range []prompt.Attachment{staged, claimed} {
		if _, _, err := w.prompts.AttachmentContent(t.Context(), w.taskID, a.ID); err != nil {
			t.Errorf("%s: %v", a.Name, err)
		}
	}
	wantErr(t, w.prompts.DeleteAttachment(t.Context(), w.taskID, claimed.ID), prompt.ErrAttachmentClaimed)
}

func attachmentsOfDeletedTask(t *testing.T, w *promptWorld) {
	staged, claimed := w.stage(t, "a"), w.stage(t, "b")
	w.stageExpired(t, "c")
	w.admit(t, w.with("c1", claimed))
	if err := w.lifecycle(t).DeleteTask(t.Context(), w.taskID); err != nil {
		t.Fatal(err)
	}
	for _, a := range []prompt.Attachment{staged, claimed} {
		_, _, err := w.prompts.AttachmentContent(t.Context(), w.taskID, a.ID)
		wantErr(t, err, prompt.ErrAttachmentNotFound)
	}
	if list := w.attachments(t); len(list) > 0 {
		t.Errorf("left %+v", list)
	}
	if n, err := w.prompts.ExpireAttachments(t.Context()); n != 0 || err != nil {
		t.Errorf("removed %d, %v", n, err)
	}
}

func foreignAttachment(t *testing.T, w *promptWorld) {
	a := w.stage(t, "a")
	other := newPromptWorld(t, w.world)
	_, _, err := w.prompts.AttachmentContent(t.Context(), other.taskID, a.ID)
	wantErr(t, err, prompt.ErrAttachmentNotFound)
	wantErr(t, w.prompts.DeleteAttachment(t.Context(), other.taskID, a.ID), prompt.ErrAttachmentNotFound)
	if list := other.attachments(t); len(list) > 0 {
		t.Errorf("listed %+v", list)
	}
}
