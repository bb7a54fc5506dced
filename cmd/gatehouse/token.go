package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"text/tabwriter"
	"time"

	"github.com/spf13/cobra"

	"gatehouse/db"
	"gatehouse/domain"
	"gatehouse/domain/access"
)

// tokenCommand manages tokens in the database of the settings (API-21). A server
// that runs on it takes a revocation in within a second.
func (p *program) tokenCommand() *cobra.Command {
	token := &cobra.Command{Use: "token", Short: "Make, list and revoke tokens"}
	token.AddCommand(p.tokenCreateCommand(), p.tokenListCommand(), p.tokenRevokeCommand())
	return token
}

func (p *program) tokenCreateCommand() *cobra.Command {
	var scope, workspace, label string
	var lasts time.Duration
	create := &cobra.Command{
		Use:   "create",
		Short: "Make a token and print it, the only time it is shown",
		Args:  cobra.NoArgs,
	}
	create.Flags().StringVar(&scope, "scope", string(access.ScopeUser), "user, runner or admin")
	create.Flags().StringVar(&workspace, "workspace", access.DefaultWorkspace, "name of its workspace")
	create.Flags().StringVar(&label, "label", "", "what it is for, for people")
	create.Flags().DurationVar(&lasts, "expires-in", 0, "how long it lasts; 0: until it is revoked")
	create.RunE = p.withAccess(func(ctx context.Context, a *access.Service, _ []string) error {
		w, err := workspaceNamed(ctx, a, workspace)
		if err != nil {
			return err
		}
		n := access.NewToken{WorkspaceID: w.ID, Scope: access.Scope(scope), Label: label}
		if lasts != 0 {
			n.ExpiresAt = new(domain.SystemClock().Add(lasts))
		}
		t, secret, err := a.CreateToken(ctx, n)
		if err != nil {
			return err
		}
		fmt.Fprintf(p.stderr, "token %s, scope %s, workspace %s\n", t.ID, t.Scope, w.Name)
		_, err = fmt.Fprintln(p.stdout, secret)
		return err
	})
	return create
}

func (p *program) tokenListCommand() *cobra.Command {
	return &cobra.Command{
		Use:   "list",
		Short: "List the tokens, as one JSON object a line",
		Args:  cobra.NoArgs,
		RunE: p.withAccess(func(ctx context.Context, a *access.Service, _ []string) error {
			out := json.NewEncoder(p.stdout)
			return eachPage(ctx, a.Tokens, func(t access.Token) error {
				return out.Encode(struct {
					ID          string       `json:"id"`
					WorkspaceID string       `json:"workspace_id"`
					Scope       access.Scope `json:"scope"`
					Label       string       `json:"label"`
					CreatedAt   time.Time    `json:"created_at"`
					ExpiresAt   *time.Time   `json:"expires_at"`
					RevokedAt   *time.Time   `json:"revoked_at"`
				}{t.ID, t.WorkspaceID, t.Scope, t.Label, t.CreatedAt, t.ExpiresAt, t.RevokedAt})
			})
		}),
	}
}

func (p *program) tokenRevokeCommand() *cobra.Command {
	return &cobra.Command{
		Use:   "revoke ID",
		Short: "Take a token out of force",
		Args:  cobra.ExactArgs(1),
		RunE: p.withAccess(func(ctx context.Context, a *access.Service, args []string) error {
			id, ok := domain.ParseID(args[0])
			if !ok {
				return errors.New("give the id of a token, as gatehouse token list shows it, not the token itself")
			}
			return a.RevokeToken(ctx, id)
		}),
	}
}

// workspaceCommand manages workspaces in the database of the settings (API-21).
func (p *program) workspaceCommand() *cobra.Command {
	workspace := &cobra.Command{Use: "workspace", Short: "Make and list workspaces"}
	workspace.AddCommand(
		&cobra.Command{
			Use:   "create NAME",
			Short: "Make a workspace and print its id",
			Args:  cobra.ExactArgs(1),
			RunE: p.withAccess(func(ctx context.Context, a *access.Service, args []string) error {
				w, err := a.CreateWorkspace(ctx, args[0])
				if err != nil {
					return err
				}
				_, err = fmt.Fprintln(p.stdout, w.ID)
				return err
			}),
		},
		&cobra.Command{
			Use:   "list",
			Short: "List the workspaces",
			Args:  cobra.NoArgs,
			RunE: p.withAccess(func(ctx context.Context, a *access.Service, _ []string) error {
				out := tabwriter.NewWriter(p.stdout, 0, 0, 2, ' ', 0)
				err := eachPage(ctx, a.Workspaces, func(w access.Workspace) error {
					_, err := fmt.Fprintf(out, "%s\t%s\t%s\n", w.ID, w.CreatedAt.Format(time.RFC3339), w.Name)
					return err
				})
				return errors.Join(err, out.Flush())
			}),
		},
	)
	return workspace
}

// workspaceNamed finds a workspace that a person named, or says what to do about it.
func workspaceNamed(ctx context.Context, a *access.Service, name string) (access.Workspace, error) {
	w, err := a.WorkspaceNamed(ctx, name)
	switch {
	case !errors.Is(err, access.ErrWorkspaceNotFound):
		return w, err
	case name == access.DefaultWorkspace:
		return w, fmt.Errorf("%w Start a server on this database once, which makes %q, or name another one with --workspace", err, name)
	}
	return w, fmt.Errorf("%w Make it with gatehouse workspace create, or name another one with --workspace", err)
}

// withAccess is a command that works on the workspaces and tokens of the database
// of the settings. A database that no server has started on yet has none.
func (p *program) withAccess(f func(ctx context.Context, a *access.Service, args []string) error) func(*cobra.Command, []string) error {
	return func(cmd *cobra.Command, args []string) error {
		return p.withStore(openExisting, func(ctx context.Context, store *db.Store) error {
			if err := store.Ready(ctx); err != nil {
				return fmt.Errorf("the database is not ready; --database has to be that of the server, which has to have started on it once: %w", err)
			}
			return f(ctx, access.NewService(store.Access(), domain.SystemClock), args)
		})(cmd, args)
	}
}

// eachPage calls f for every item of a list, page by page.
func eachPage[T any](ctx context.Context, list func(context.Context, domain.PageRequest) (domain.Page[T], error), f func(T) error) error {
	r := domain.PageRequest{Limit: domain.MaxListItems}
	for {
		page, err := list(ctx, r)
		if err != nil {
			return err
		}
		for _, item := range page.Items {
			if err := f(item); err != nil {
				return err
			}
		}
		if page.NextCursor == nil {
			return nil
		}
		r.Cursor = *page.NextCursor
	}
}
