package delivery_test

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"gatehouse/test/process"
)

// receipt is what the database holds of a prompt.
type receipt struct {
	ID       string
	ClientID string
	Session  string
	State    string
	Outcome  string
	Content  string
	Rows     int // of the transcript
	Turn     string
}

// judge holds the database against what was answered and what the agent was given.
func (d *director) judge(t *testing.T) {
	t.Helper()
	t.Logf("%d prompts; answers: %v", len(d.books.admitted), d.books.counts)
	given := map[string]string{}
	for _, g := range readRecord(t, d.record) {
		if _, before := given[g.Delivery]; before {
			t.Errorf("the agent was given %s twice", g.Delivery)
		}
		given[g.Delivery] = g.Content
	}
	there := map[string]admitted{}
	for _, r := range receipts(t, d.url) {
		there[r.ID] = admitted{r.Session, r.ClientID, r.Content}
		d.judgeOne(t, r, given)
		delete(given, r.ID)
	}
	for id := range given {
		t.Errorf("the agent was given %s, which was never accepted", id)
	}
	if diff := cmp.Diff(d.books.admitted, there, cmp.AllowUnexported(admitted{})); diff != "" {
		t.Errorf("accepted prompts (-answered +database)\n%s", diff)
	}
}

// judgeOne judges one prompt: where it stands, its one row, whether the agent has it.
func (d *director) judgeOne(t *testing.T, r receipt, given map[string]string) {
	t.Helper()
	content, has := given[r.ID]
	if r.Rows != 1 {
		t.Errorf("%d transcript rows of %+v", r.Rows, r)
	}
	if has && content != r.Content {
		t.Errorf("the agent was given %q for %+v", content, r)
	}
	if r.State == "outcome_unknown" && r.Outcome == "" {
		r.Outcome = "unknown" // recovery was first
	}
	answered, tried := d.books.outcomes[r.ID], d.books.tried[r.ID]
	if r.Outcome != answered && (answered != "" || r.Outcome != tried && r.Outcome != "unknown") {
		t.Errorf("answered outcome %q, tried %q, in the database %+v", answered, tried, r)
	}
	switch r.Outcome {
	case "succeeded":
		if r.State != "acknowledged" || !has || !d.books.ended[r.Turn] {
			t.Errorf("%+v, the agent has it: %t", r, has)
		}
	case "failed":
		if r.State != "acknowledged" || has {
			t.Errorf("%+v, the agent has it: %t", r, has)
		}
	default:
		if r.State != "outcome_unknown" {
			t.Errorf("%+v", r)
		}
	}
}

// receipts are all of a database that nobody serves any more.
func receipts(t *testing.T, url string) (all []receipt) {
	t.Helper()
	rows, err := process.OpenDatabase(t, url).QueryContext(t.Context(), `
SELECT d.id, d.client_id, d.session_id, d.state, coalesce(d.outcome, ''), d.content,
  (SELECT count(*) FROM task_session_messages m WHERE m.session_id = d.session_id AND m.metadata->>'client_queue_id' = d.client_id),
  coalesce((SELECT u.id FROM task_session_turns u WHERE u.id = d.turn_id AND u.state <> 'running'), '')
FROM deliveries d`)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = rows.Close() }()
	for rows.Next() {
		var r receipt
		if err := rows.Scan(&r.ID, &r.ClientID, &r.Session, &r.State, &r.Outcome, &r.Content, &r.Rows, &r.Turn); err != nil {
			t.Fatal(err)
		}
		all = append(all, r)
	}
	if err := rows.Err(); err != nil {
		t.Fatal(err)
	}
	return all
}
