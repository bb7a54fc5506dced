package load_test

import (
	"database/sql"
	"log/slog"
	"strconv"
	"strings"
	"testing"
	"time"

	"gatehouse/db"
	"gatehouse/db/dbtest"
	"gatehouse/domain"
	"gatehouse/domain/event"
	"gatehouse/domain/prompt"
)

// Sizes of the crowd that QU-7 names: task 0 has the session that is reserved from.
const (
	ownReceipts     = 1_000
	othersReceipts  = 100_000
	otherSessions   = 1_000
	reservesPerTurn = 20
)

// BenchmarkReserve measures reserve among the receipts of others and many of its own
// against a queue that has nothing else (QU-7): when there is a delivery to hand out,
// and when there is none because all of them are settled. The ratio is how many
// times longer it takes in the crowd.
func BenchmarkReserve(b *testing.B) {
	eachNewURL(b, func(b *testing.B, newURL func(testing.TB) string) {
		crowded, lone := newQueue(b, newURL(b), ownReceipts, othersReceipts), newQueue(b, newURL(b), 1, 0)
		b.Run("handed out", func(b *testing.B) { slowdown(b, crowded, lone, true) })
		settle(b, crowded.db)
		settle(b, lone.db)
		b.Run("nothing", func(b *testing.B) { slowdown(b, crowded, lone, false) })
	})
}

func eachNewURL(b *testing.B, f func(b *testing.B, newURL func(testing.TB) string)) {
	b.Run("sqlite", func(b *testing.B) { f(b, dbtest.SQLiteURL) })
	b.Run("postgres", func(b *testing.B) { f(b, dbtest.DurablePostgres(b).NewURL) })
}

// slowdown lets both queues take turns and reports the median of the ratios.
func slowdown(b *testing.B, crowded, lone *queue, handedOut bool) {
	b.Helper()
	var ratios, many, one []float64
	for round := range shortTurns + 1 {
		loneTime, crowdedTime := lone.reserve(b, handedOut), crowded.reserve(b, handedOut)
		if round == 0 {
			continue // it warms up
		}
		ratios = append(ratios, crowdedTime.Seconds()/loneTime.Seconds())
		many = append(many, reservesPerTurn/crowdedTime.Seconds())
		one = append(one, reservesPerTurn/loneTime.Seconds())
	}
	b.Logf("ratios %.2f", ratios)
	figure(b, "QU-7", median(ratios), "as long as in an empty queue, %.0f/s against %.0f/s", median(many), median(one))
	b.ReportMetric(median(ratios), "ratio")
	b.ReportMetric(median(many), "crowded/s")
	b.ReportMetric(median(one), "alone/s")
	b.ReportMetric(0, "ns/op") // of a whole comparison: it says nothing
}

// queue is the session of task 0 in a database of its own.
type queue struct {
	db      *sql.DB
	prompts *prompt.Service
}

// newQueue fills an empty database with pending deliveries: so many of the session
// itself, and so many of others.
func newQueue(b *testing.B, url string, own, others int) *queue {
	b.Helper()
	raw := seed(b, url, otherSessions+1)
	fill := strings.NewReplacer(
		"OWN", strconv.Itoa(own), "OTHERS", strconv.Itoa(others), "SESSIONS", strconv.Itoa(otherSessions), "FIRST", strconv.Itoa(firstNumber),
	).Replace(receiptsSQL)
	for statement := range strings.SplitSeq(fill, ";\n") {
		if _, err := raw.ExecContext(b.Context(), statement); err != nil {
			b.Fatalf("%v in %s", err, statement)
		}
	}
	return &queue{raw, prompt.NewService(prompt.Config{
		Store:    dbtest.Open(b, db.Options{URL: url}).Prompts(),
		Now:      domain.SystemClock,
		Announce: event.NewAnnouncer(nil, slog.New(slog.DiscardHandler)),
	})}
}

// receiptsSQL makes the deliveries, in rounds over the sessions of others, so that
// those of one session lie apart. It is the same on both databases, which afterwards
// know what they hold.
const receiptsSQL = `
WITH RECURSIVE
  g(i) AS (SELECT 0 UNION ALL SELECT i + 1 FROM g WHERE i + 1 < OWN + OTHERS),
  owed(i, n, position) AS (
    SELECT i, CASE WHEN i < OWN THEN 0 ELSE 1 + i % SESSIONS END, CASE WHEN i < OWN THEN 1 + i ELSE 1 + i / SESSIONS END FROM g)
INSERT INTO deliveries (id, task_id, session_id, incarnation_id, kind, client_id, state, position, content, plan_mode,
  attachments, plan_comment_refs, metadata, version, pending_at, created_at, updated_at)
SELECT '00000000-0000-7000-8022-' || (FIRST + i), '` + taskPrefix + `' || (FIRST + n), '` + sessionPrefix + `' || (FIRST + n),
  '` + sessionPrefix + `' || (FIRST + n), 'queued', 'm' || position, 'pending', position, '` + content + `', false,
  '[]', '[]', '{}', 1, ` + then + `, ` + then + `, ` + then + `
FROM owed;
UPDATE task_sessions SET last_position = (SELECT count(*) FROM deliveries AS d WHERE d.session_id = task_sessions.id)
WHERE id = '` + sessionPrefix + `' || FIRST;
ANALYZE`

// settle settles what the session of task 0 is owed.
func settle(b *testing.B, db *sql.DB) {
	b.Helper()
	_, err := db.ExecContext(b.Context(), "UPDATE deliveries SET state = 'acknowledged', outcome = 'succeeded' WHERE session_id = $1", id(sessionPrefix, 0))
	if err != nil {
		b.Fatal(err)
	}
}

// reserve asks for the head again and again, giving it back in between, and returns
// how long the asking took.
func (q *queue) reserve(b *testing.B, handedOut bool) (took time.Duration) {
	b.Helper()
	for range reservesPerTurn {
		start := time.Now()
		r, err := q.prompts.Reserve(b.Context(), id(taskPrefix, 0), id(sessionPrefix, 0), nil)
		took += time.Since(start)
		if err != nil || (r != nil) != handedOut {
			b.Fatalf("reserved %+v, %v", r, err)
		}
		if r == nil {
			continue
		}
		if _, err := q.prompts.Release(b.Context(), id(taskPrefix, 0), r.Delivery.ID, r.Token, nil); err != nil {
			b.Fatal(err)
		}
	}
	return took
}
