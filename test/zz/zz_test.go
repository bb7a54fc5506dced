package zz

import (
	"encoding/json"
	"fmt"
	"log/slog"
	"testing"
	"time"
	"strings"

	"gatehouse/db"
	"gatehouse/db/dbtest"
	"gatehouse/domain"
	"gatehouse/domain/access"
	"gatehouse/domain/event"
	"gatehouse/domain/history"
	"gatehouse/domain/session"
	"gatehouse/domain/storetest"
	"gatehouse/domain/subagent"
	"gatehouse/domain/task"
)

func BenchmarkZZ(b *testing.B) {
	for _, k := range []string{"edit", "subagent_task"} {
		for name, url := range map[string]string{"sqlite": dbtest.SQLiteURL(b), "postgres": dbtest.PostgresURL(b)} {
			b.Run(k+"/"+name, func(b *testing.B) {
				s := dbtest.Open(b, db.Options{URL: url})
				log := slog.New(slog.DiscardHandler)
				an := event.NewAnnouncer(nil, log)
				acc := access.NewService(s.Access(), domain.SystemClock)
				acc.Bootstrap(b.Context(), "")
				ws, err := acc.WorkspaceNamed(b.Context(), "default")
				if err != nil {
					b.Fatal(err)
				}
				tk, _, _ := task.NewService(s.Tasks(), domain.SystemClock, an).Create(b.Context(), task.New{WorkspaceID: ws.ID, Title: "t"})
				se, _, err := session.NewService(s.Sessions(), domain.SystemClock, an).Create(b.Context(), session.New{TaskID: tk.ID, Kind: session.KindMain})
				if err != nil {
					b.Fatal(err)
				}
				h := history.NewService(s.History(), domain.SystemClock, an, nil).RecordingTo(subagent.NewRecorder(s.Contexts(), domain.SystemClock, log, &storetest.FrameCounts{}))
				n := 0
				parse := time.Duration(0)
				for b.Loop() {
					var batch []json.RawMessage
					for i := range 100 {
						raw, _ := json.Marshal(map[string]any{"frame": "tool_call", "tool_call_id": fmt.Sprintf("call_%d_%d", n, i), "execution_id": "execution-1",
							"title": "Edit main.go", "status": "completed", "observed_at": "2026-12-01T00:00:01.000000Z", "content": strings.Repeat("The file was read and one line of it was changed. ", 6), "normalized": map[string]any{"kind": k, k: map[string]any{
								"description": "Look for the callers", "subagent_type": "explorer", "model": "a-model", "status": "completed",
								"agent_id": "agent-1", "total_tokens": 12345, "tool_use_count": 7, "duration_ms": 4321,
							}}})
						batch = append(batch, raw)
					}
					n++
					t0 := time.Now()
					for _, r := range batch {
						history.ParseFrame(r)
					}
					parse += time.Since(t0)
					if _, err := h.AppendFrames(b.Context(), tk.ID, se.ID, batch); err != nil {
						b.Fatal(err)
					}
				}
				b.ReportMetric(float64(parse.Microseconds())/float64(n), "parse-us")
			})
		}
	}
}

func TestMain(m *testing.M) { m.Run() }
