package task

import (
	"context"
	"fmt"

	"gatehouse/domain"
	"gatehouse/domain/event"
)

// New asks for a task.
type New struct {
	ID          string // the caller's, or "" for one of ours
	WorkspaceID string // exists: workspaces are never deleted
	Title       string // 1 to 500 bytes, not blank
	Description string // at most 64 KiB
}

func (n New) validate() error {
	var p domain.Problems
	checkTitle(&p, n.Title)
	checkDescription(&p, n.Description)
	return p.Err()
}

func checkTitle(p *domain.Problems, title string) {
	if domain.IsBlank(title) {
		p.Add("/body/title", domain.ProblemBlank, "must not be blank")
	}
	domain.CheckText(p, "/body/title", title, domain.MaxShortText)
}

func checkDescription(p *domain.Problems, description string) {
	domain.CheckText(p, "/body/description", description, domain.MaxDescription)
}

// fingerprint leaves the id out: it is what the fingerprint is kept under.
func (n New) fingerprint() string {
	n.ID = ""
	return domain.Fingerprint(n)
}

// Create makes a task. The same request with the caller's id again changes
// nothing and answers the task as it is now, created false; another request with
// that id is [ErrConflict] (API-8).
func (s *Service) Create(ctx context.Context, n New) (t Task, created bool, err error) {
	if err := n.validate(); err != nil {
		return Task{}, false, err
	}
	fresh := s.fresh(n)
	err = s.store.InTx(ctx, fresh.ID, func(ctx context.Context, tx WriteTx) error {
		if created, err = tx.InsertTask(ctx, fresh); err != nil {
			return err
		}
		if created {
			t = fresh
			return nil
		}
		if t, err = tx.Task(ctx, fresh.ID); err != nil {
			return err
		}
		if t.CreateFingerprint != fresh.CreateFingerprint {
			return ErrConflict
		}
		return nil
	})
	if err != nil {
		return Task{}, false, fmt.Errorf("create task: %w", err)
	}
	if created {
		s.announce.Announce(ctx, event.Notice{TaskID: t.ID, Seq: t.ChangeSeq, Change: event.Change{Task: true}})
	}
	return t, created, nil
}

// fresh is the task that n asks for, at its first change.
func (s *Service) fresh(n New) Task {
	now := s.now()
	t := Task{
		ID:                n.ID,
		WorkspaceID:       n.WorkspaceID,
		Title:             n.Title,
		Description:       n.Description,
		CreateFingerprint: n.fingerprint(),
		ChangeSeq:         1,
		TaskSeq:           1,
		CreatedAt:         now,
		UpdatedAt:         now,
	}
	if t.ID == "" {
		t.ID = domain.NewID()
	}
	return t
}
