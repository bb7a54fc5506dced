package load_test

import (
	"context"
	"database/sql"
	"encoding/json"
	"fmt"
	"net/http"
	"regexp"
	"strings"
	"testing"
	"time"

	"gatehouse/db"
	"gatehouse/db/dbtest"
	"gatehouse/domain"
	"gatehouse/domain/subagent"
	"gatehouse/test/process"
)

// Sizes of the ingestion that QU-6 names.
const (
	framesPerBatch  = 100
	batchesPerRound = 5
)

// BenchmarkFrames measures frames of tool calls over HTTP in batches of 100, each of a
// new call, against raw upserts of the same batch (QU-6): one prepared statement per
// frame for its message, and where it tells of a subagent one each for its delegation
// and its context, all in one transaction.
//
// Raw writes the same rows to the same tables: every column is as wide as the service
// fills it, metadata and fingerprint included, and both databases are migrated alike.
// On SQLite both connections have the same pragmas (see openRaw), so a commit of either
// is one fsync of the log. What raw leaves out is what the rows do not need: the locks,
// the look-up of what is there, the numbers of the change, and the second commit, which
// the service spends on contexts (SC-14).
//
// Where other work disturbs the clock, the processor time says more: that of the server,
// HTTP included, and that of this process while it writes raw.
func BenchmarkFrames(b *testing.B) {
	for _, kind := range []string{"edit", "subagent_task"} {
		b.Run("kind="+kind+"/sqlite", func(b *testing.B) {
			compareFrames(b, kind, dbtest.SQLiteURL(b), dbtest.SQLiteURL(b))
		})
		b.Run("kind="+kind+"/postgres", func(b *testing.B) {
			server := dbtest.DurablePostgres(b)
			compareFrames(b, kind, server.NewURL(b), server.NewURL(b))
		})
	}
}

func compareFrames(b *testing.B, kind, ourURL, rawURL string) {
	b.Helper()
	server := process.Start(b, ourURL, "--log-level=info")
	scene, client := server.NewScene(b), newWire(b, server.URL)
	raw := newUpserter(b, rawURL)
	ourStart, rawSpent := serverProcessorTime(b, server), time.Duration(0)
	compare(b, "QU-6", shortTurns, framesPerBatch*batchesPerRound,
		func(round int) time.Duration {
			bodies := make([]string, batchesPerRound)
			for i := range bodies {
				bodies[i] = frameBatch(kind, round*batchesPerRound+i)
			}
			start := time.Now()
			for _, body := range bodies {
				status, err := client.send(http.MethodPost, scene.SessionPath("/frames"), body)
				if err != nil || status != http.StatusOK {
					b.Fatalf("status %d, %v", status, err)
				}
			}
			return time.Since(start)
		},
		func(round int) time.Duration {
			batches := make([][]upserts, batchesPerRound)
			for i := range batches {
				batches[i] = raw.batch(kind, round*batchesPerRound+i)
			}
			start, spent := time.Now(), ownProcessorTime(b)
			for _, batch := range batches {
				if err := raw.upsert(b.Context(), batch); err != nil {
					b.Fatal(err)
				}
			}
			rawSpent += ownProcessorTime(b) - spent
			return time.Since(start)
		})
	const batches = (shortTurns + 1) * batchesPerRound
	b.ReportMetric((serverProcessorTime(b, server)-ourStart).Seconds()*1000/batches, "ours-cpu-ms/batch")
	b.ReportMetric(rawSpent.Seconds()*1000/batches, "raw-cpu-ms/batch")
}

// toolText is about what an agent reports of a call.
var toolText = strings.Repeat("The file was read and one line of it was changed. ", 6)

func normalizedFrame(kind string) map[string]any {
	return map[string]any{"kind": kind, kind: map[string]any{
		"description": "Look for the callers", "subagent_type": "explorer", "model": "a-model", "status": "completed",
		"agent_id": "agent-1", "total_tokens": 12345, "tool_use_count": 7, "duration_ms": 4321,
	}}
}

// frameBatch is a batch of frames of calls that were never told of.
func frameBatch(kind string, batch int) string {
	frames := make([]map[string]any, framesPerBatch)
	for i := range frames {
		frames[i] = map[string]any{
			"frame": "tool_call", "tool_call_id": fmt.Sprintf("call_%d_%d", batch, i), "execution_id": "execution-1",
			"title": "Edit main.go", "status": "completed", "observed_at": at, "content": toolText, "normalized": normalizedFrame(kind),
		}
	}
	body, err := json.Marshal(map[string]any{"frames": frames})
	if err != nil {
		panic(err) // plain values
	}
	return string(body)
}

const upsertMessageSQL = `INSERT INTO task_session_messages (id, task_id, session_id, seq, role, type, content,
  tool_calls, tool_call_id, metadata, sanitized, request_fingerprint, created_at, updated_at)
VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13, $14)
ON CONFLICT (id) DO UPDATE SET content = excluded.content, metadata = excluded.metadata,
  sanitized = excluded.sanitized, updated_at = excluded.updated_at`

const insertDelegationSQL = `INSERT INTO task_session_delegations (message_id, tool_call_id, ordinal, session_id, message_seq)
VALUES ($1, $2, $3, $4, $5) ON CONFLICT DO NOTHING`

var argumentName = regexp.MustCompile(`\$[0-9]+`)

// upserter upserts batches straight on the driver.
type upserter struct {
	db                            *sql.DB
	message, delegation, contexts *sql.Stmt
}

// upserts are a statement and the arguments of its rows.
type upserts struct {
	stmt *sql.Stmt
	rows [][]any
}

func newUpserter(b *testing.B, url string) *upserter {
	b.Helper()
	u := &upserter{db: seed(b, url, 1)}
	prepare := func(text string) *sql.Stmt {
		if strings.HasPrefix(url, "sqlite:") {
			text = argumentName.ReplaceAllString(text, "?") // which is quicker there, see the store
		}
		st, err := u.db.PrepareContext(b.Context(), text)
		if err != nil {
			b.Fatal(err)
		}
		b.Cleanup(func() { _ = st.Close() })
		return st
	}
	u.message, u.delegation, u.contexts = prepare(upsertMessageSQL), prepare(insertDelegationSQL), prepare(mergeSQL(b, url))
	return u
}

// mergeSQL learns the statement of a context from the store, so it is the same.
func mergeSQL(b *testing.B, url string) string {
	b.Helper()
	store, text := dbtest.Open(b, db.Options{URL: url}), ""
	dbtest.Probe(b, store, func(when dbtest.When, sql string) error {
		if when == dbtest.Before && strings.HasPrefix(sql, "INSERT") {
			text = sql
		}
		return nil
	})
	_ = store.Contexts().MergeContexts(b.Context(), []subagent.Context{{ID: domain.NewID(), TaskSessionID: id(sessionPrefix, 0)}})
	if text == "" {
		b.Fatal("no context was merged")
	}
	return text
}

// batch is what a batch of frames writes, made before the clock runs.
func (u *upserter) batch(kind string, batch int) []upserts {
	messages, delegations, contexts := upserts{stmt: u.message}, upserts{stmt: u.delegation}, upserts{stmt: u.contexts}
	for i := range framesPerBatch {
		call, seq := fmt.Sprintf("call_%d_%d", batch, i), batch*framesPerBatch+i+1
		message := domain.DeriveID(sessionID0, call)
		messages.rows = append(messages.rows, []any{
			message, id(taskPrefix, 0), sessionID0, seq, "tool", "tool_call", toolText,
			"[]", call, storedMetadata(kind, call), false, "0123456789abcdef", at, at,
		})
		delegations.rows = append(delegations.rows, []any{message, call, 0, sessionID0, seq})
		contexts.rows = append(contexts.rows, []any{
			domain.NewID(), sessionID0, id(taskPrefix, 0), nil, "execution-1", call, nil, "explorer", "Look for the callers",
			"agent-1", nil, "a-model", "completed", "completed", 0, 12345, 7, 4321, "live", at, at, at,
		})
	}
	if kind != "subagent_task" {
		return []upserts{messages}
	}
	return []upserts{messages, delegations, contexts}
}

// storedMetadata is what the service stores of a frame beside its text.
func storedMetadata(kind, call string) string {
	metadata, err := json.Marshal(map[string]any{
		"tool_call_id": call, "execution_id": "execution-1", "title": "Edit main.go", "status": "completed",
		"normalized": normalizedFrame(kind),
	})
	if err != nil {
		panic(err) // plain values
	}
	return string(metadata)
}

func (u *upserter) upsert(ctx context.Context, batch []upserts) error {
	tx, err := u.db.BeginTx(ctx, nil)
	if err != nil {
		return err
	}
	defer func() { _ = tx.Rollback() }()
	for _, of := range batch {
		stmt := tx.StmtContext(ctx, of.stmt) //nolint:sqlclosecheck // the transaction closes it
		for _, row := range of.rows {
			if _, err := stmt.ExecContext(ctx, row...); err != nil {
				return err
			}
		}
	}
	return tx.Commit()
}

var sessionID0 = id(sessionPrefix, 0)
