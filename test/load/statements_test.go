package load_test

import (
	"context"
	"log/slog"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"gatehouse/db"
	"gatehouse/db/dbtest"
	"gatehouse/domain"
	"gatehouse/domain/event"
	"gatehouse/domain/plan"
	"gatehouse/domain/prompt"
)

// statement is one of an admission of three comments, with its arguments for the task
// of a number: values, and as pgbench writes them.
type statement struct {
	sql     string
	args    func(n int) []any
	pgbench []string
}

// texts of the admission that is measured.
const (
	content  = "Go on with the plan, but answer the comments first. Keep the tests green and tell me when a step takes long."
	metadata = `{"client_message_id":"m","plan_comment_refs":[{"id":"00000000-0000-7000-8010-100000000000","version":1},{"id":"00000000-0000-7000-8011-100000000000","version":1},{"id":"00000000-0000-7000-8012-100000000000","version":1}]}`
	refs     = `[{"id":"00000000-0000-7000-8010-100000000000","version":1},{"id":"00000000-0000-7000-8011-100000000000","version":1},{"id":"00000000-0000-7000-8012-100000000000","version":1}]`
	prints   = `{"attachments":"4f53cda18c2baa0c0354bb5f9a3ecbe5ed12ab4d8e11ba873c2f11161202b945","content":"4f53cda18c2baa0c0354bb5f9a3ecbe5ed12ab4d8e11ba873c2f11161202b945","metadata":"4f53cda18c2baa0c0354bb5f9a3ecbe5ed12ab4d8e11ba873c2f11161202b945","model":"4f53cda18c2baa0c0354bb5f9a3ecbe5ed12ab4d8e11ba873c2f11161202b945","plan_comment_refs":"4f53cda18c2baa0c0354bb5f9a3ecbe5ed12ab4d8e11ba873c2f11161202b945","transport":"4f53cda18c2baa0c0354bb5f9a3ecbe5ed12ab4d8e11ba873c2f11161202b945"}`
)

// rendered is about what the agent gets to see.
var rendered = "### Plan Comments\n\n" + strings.Repeat("```\nStep one: read all of it again.\n```\n> Why is this step needed when the one before it does the same? Please explain.\n\n", 3) + "---\n\n" + content

// at is when the admissions of the raw side happen.
const at = "2026-12-01T00:00:01.000000Z"

// admission is what a store does for a direct prompt with three comments, between
// BEGIN and COMMIT, in its order. [TestStatements] holds it against the store.
func admission() []statement {
	one := func(prefix string) func(n int) []any { return func(n int) []any { return []any{id(prefix, n)} } }
	list := []statement{
		{"SELECT id, archived, primary_session_id, change_seq FROM tasks WHERE id = $1" + lock, one(taskPrefix), []string{taskVar}},
		{
			"SELECT delivery_id FROM admissions WHERE task_id = $1 AND client_id = $2",
			func(n int) []any { return []any{id(taskPrefix, n), "m"} },
			[]string{taskVar, "'m'"},
		},
		{`SELECT s.id, s.task_id, s.state, s.incarnation_id, s.last_message_seq, s.last_position,
  s.queue_revision, s.messages_seq,
  (SELECT count(*) FROM deliveries AS d
   WHERE d.session_id = s.id AND d.state IN ('pending', 'reserved', 'combined'))
FROM task_sessions AS s WHERE s.id = $1 AND s.task_id = $2` + lock, func(n int) []any { return []any{id(sessionPrefix, n), id(taskPrefix, n)} }, []string{sessionVar, taskVar}},
		{`SELECT p.id, p.comments_revision,
  c.id, c.body, c.selected_text, c.anchor_from, c.anchor_to, c.version, c.created_at, c.updated_at
FROM task_plans AS p LEFT JOIN task_plan_comments AS c ON c.plan_id = p.id
WHERE p.task_id = $1
ORDER BY c.created_at, c.id`, one(taskPrefix), []string{taskVar}},
		{
			`INSERT INTO task_session_messages (id, task_id, session_id, seq, role, type, content, thinking,
  tool_calls, tool_call_id, turn_id, metadata, sanitized, request_fingerprint, deleted_at, created_at, updated_at)
VALUES ($1, $2, $3, $4, $5, $6, $7, NULL, $8, NULL, $9, $10, $11, $12, NULL, $13, $14)`,
			func(n int) []any {
				return []any{domain.NewID(), id(taskPrefix, n), id(sessionPrefix, n), 1, "user", "message", rendered, "[]", nil, metadata, false, "x", at, at}
			},
			[]string{newVar("8021"), taskVar, sessionVar, "1", "'user'", "'message'", quote(rendered), "'[]'", "NULL", quote(metadata), "false", "'x'", quote(at), quote(at)},
		},
		{
			`INSERT INTO deliveries (id, task_id, session_id, incarnation_id, kind, client_id, state, position,
  content, plan_mode, model, attachments, plan_comment_refs, metadata, message_id, version,
  pending_at, created_at, updated_at)
VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13, $14, $15, $16, $17, $18, $19)`,
			func(n int) []any {
				return []any{
					domain.NewID(), id(taskPrefix, n), id(sessionPrefix, n), id(sessionPrefix, n), "direct", "m", "pending", 1,
					rendered, false, nil, "[]", refs, metadata, domain.NewID(), 1, at, at, at,
				}
			},
			[]string{
				newVar("8022"), taskVar, sessionVar, sessionVar, "'direct'", "'m'", "'pending'", "1",
				quote(rendered), "false", "NULL", "'[]'", quote(refs), quote(metadata), newVar("8021"), "1", quote(at), quote(at), quote(at),
			},
		},
		{
			`INSERT INTO admissions (task_id, client_id, delivery_id, requested_session_id, fingerprint,
  consumed_comment_refs, created_at)
VALUES ($1, $2, $3, $4, $5, $6, $7)`,
			func(n int) []any {
				return []any{id(taskPrefix, n), "m", domain.NewID(), id(sessionPrefix, n), prints, refs, at}
			},
			[]string{taskVar, "'m'", newVar("8022"), sessionVar, quote(prints), quote(refs), quote(at)},
		},
	}
	for k := range 3 {
		list = append(list, statement{
			"DELETE FROM task_plan_comments WHERE task_id = $1 AND plan_id = $2 AND id = $3 AND version = $4",
			func(n int) []any { return []any{id(taskPrefix, n), id(planPrefix, n), commentID(k, n), 1} },
			[]string{taskVar, planVar, newVar("801" + string(rune('0'+k))), "1"},
		})
	}
	return append(list,
		statement{"UPDATE task_plans SET comments_revision = comments_revision + 1 WHERE id = $1", one(planPrefix), []string{planVar}},
		statement{
			`UPDATE task_sessions SET last_message_seq = $1, last_position = $2, queue_revision = $3,
  queue_seq = $4, messages_seq = $5, updated_at = $6
WHERE id = $7`,
			func(n int) []any { return []any{1, 1, 1, 6, 6, at, id(sessionPrefix, n)} },
			[]string{"1", "1", "1", "6", "6", quote(at), sessionVar},
		},
		statement{
			"UPDATE tasks SET change_seq = $1, comments_seq = $2 WHERE id = $3",
			func(n int) []any { return []any{6, 6, id(taskPrefix, n)} },
			[]string{"6", "6", taskVar},
		})
}

// lock stands where PostgreSQL locks a row.
const lock = "/*lock*/"

// TestStatements holds the raw side to what the store really does: to measure against
// something else would be no comparison.
func TestStatements(t *testing.T) {
	dbtest.EachURL(t, func(t *testing.T, newURL func(testing.TB) string) {
		url := newURL(t)
		seed(t, url, 1)
		store := dbtest.Open(t, db.Options{URL: url})
		var got []string
		dbtest.Probe(t, store, func(when dbtest.When, text string) error {
			if when == dbtest.Before {
				got = append(got, text)
			}
			return nil
		})
		service := prompt.NewService(prompt.Config{
			Store: store.Prompts(), Now: domain.SystemClock, Announce: event.NewAnnouncer(nil, slog.New(slog.DiscardHandler)),
		})
		request := prompt.Request{TaskID: id(taskPrefix, 0), SessionID: id(sessionPrefix, 0), ClientID: "m", Content: content}
		for k := range 3 {
			request.Refs = append(request.Refs, plan.Ref{ID: commentID(k, 0), Version: 1})
		}
		if _, err := service.AdmitPrompt(context.WithoutCancel(t.Context()), request); err != nil {
			t.Fatal(err)
		}
		locks := ""
		if store.Name() == "postgres" {
			locks = " FOR NO KEY UPDATE"
		}
		var want []string
		for _, s := range admission() {
			want = append(want, strings.ReplaceAll(s.sql, lock, locks))
		}
		if diff := cmp.Diff(append(want, "COMMIT"), got); diff != "" {
			t.Errorf("statements (-raw +store)\n%s", diff)
		}
	})
}
