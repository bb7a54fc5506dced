package storetest

import (
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"gatehouse/domain"
	"gatehouse/domain/access"
)

// Access is what every access.Store must do.
func Access(t *testing.T, open Open) {
	for name, test := range map[string]func(*testing.T, *world){
		"API-21 the first start makes one admin token": accessBootstrap,
		"API-20 a token opens until it is revoked":     accessRevoked,
		"API-20 a token opens until it expires":        accessExpires,
		"token requests are validated":                 accessTokenValidates,
		"workspace names are unique":                   accessWorkspaces,
	} {
		t.Run(name, func(t *testing.T) { test(t, newWorld(t, open)) })
	}
	t.Run("API-21 of starts at once one makes the token", func(t *testing.T) { accessBootstrapRaces(t, open) })
}

func accessBootstrap(t *testing.T, w *world) {
	secret, err := w.access.Bootstrap(t.Context(), "")
	if err != nil || secret != "" {
		t.Errorf("second start made a token: %v", err)
	}
	page, err := w.access.Tokens(t.Context(), domain.PageRequest{})
	if err != nil || len(page.Items) != 1 || page.Items[0].Scope != access.ScopeAdmin {
		t.Errorf("tokens are %+v, %v", page.Items, err)
	}
}

func accessBootstrapRaces(t *testing.T, open Open) {
	store := open(t)
	var made atomic.Int64
	var wg sync.WaitGroup
	for range 4 {
		wg.Go(func() {
			secret, err := access.NewService(store.Access(), ticking()).Bootstrap(t.Context(), "")
			if err != nil {
				t.Errorf("bootstrap: %v", err)
			}
			if secret != "" {
				made.Add(1)
			}
		})
	}
	wg.Wait()
	if made.Load() != 1 {
		t.Errorf("%d starts made a token, want 1", made.Load())
	}
}

func accessRevoked(t *testing.T, w *world) {
	made, secret, err := w.access.CreateToken(t.Context(), access.NewToken{Scope: access.ScopeRunner, Label: "runner 1"})
	if err != nil {
		t.Fatal(err)
	}
	want := access.Caller{TokenID: made.ID, WorkspaceID: w.workspaceID, Scope: access.ScopeRunner}
	if got, err := w.access.Authenticate(t.Context(), secret); err != nil || got != want {
		t.Errorf("caller is %+v, %v, want %+v", got, err, want)
	}
	for range 2 {
		if err := w.access.RevokeToken(t.Context(), made.ID); err != nil {
			t.Fatal(err)
		}
	}
	for _, bad := range []string{secret, "", "gate_nobody"} {
		_, err = w.access.Authenticate(t.Context(), bad)
		wantErr(t, err, access.ErrUnauthenticated)
	}
	wantErr(t, w.access.RevokeToken(t.Context(), domain.NewID()), access.ErrTokenNotFound)
}

// accessExpires uses the system's clock: expiry is judged by the database's.
func accessExpires(t *testing.T, w *world) {
	service := access.NewService(w.store.Access(), domain.SystemClock)
	now := domain.SystemClock()
	_, lasting, err := service.CreateToken(t.Context(), access.NewToken{Scope: access.ScopeUser, ExpiresAt: new(now.Add(time.Hour))})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := service.Authenticate(t.Context(), lasting); err != nil {
		t.Errorf("before it expires: %v", err)
	}
	past := access.NewService(w.store.Access(), func() time.Time { return now.Add(-2 * time.Hour) })
	_, expired, err := past.CreateToken(t.Context(), access.NewToken{Scope: access.ScopeUser, ExpiresAt: new(now.Add(-time.Hour))})
	if err != nil {
		t.Fatal(err)
	}
	_, err = service.Authenticate(t.Context(), expired)
	wantErr(t, err, access.ErrUnauthenticated)
}

func accessTokenValidates(t *testing.T, w *world) {
	_, _, err := w.access.CreateToken(t.Context(), access.NewToken{Scope: "owner", ExpiresAt: new(start)})
	want := "validation_failed: /body/scope enum, /body/expires_at range"
	if err == nil || err.Error() != want {
		t.Errorf("error is %v, want %v", err, want)
	}
	_, _, err = w.access.CreateToken(t.Context(), access.NewToken{Scope: access.ScopeUser, WorkspaceID: domain.NewID()})
	wantErr(t, err, access.ErrWorkspaceNotFound)
}

func accessWorkspaces(t *testing.T, w *world) {
	made, err := w.access.CreateWorkspace(t.Context(), "team")
	if err != nil {
		t.Fatal(err)
	}
	_, err = w.access.CreateWorkspace(t.Context(), "team")
	wantErr(t, err, access.ErrWorkspaceConflict)
	_, err = w.access.CreateWorkspace(t.Context(), " ")
	wantErr(t, err, domain.ErrValidation)
	page, err := w.access.Workspaces(t.Context(), domain.PageRequest{})
	if err != nil || len(page.Items) != 2 || page.Items[1] != made {
		t.Errorf("workspaces are %+v, %v", page.Items, err)
	}
	got, err := w.access.Workspace(t.Context(), made.ID)
	if err != nil || got != made {
		t.Errorf("workspace is %+v, %v", got, err)
	}
}
