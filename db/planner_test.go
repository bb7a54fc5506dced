package db_test

import (
	"database/sql"
	"encoding/json"
	"fmt"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"gatehouse/db/dbtest"
)

// asked is a statement as the store gave it to the driver.
type asked struct {
	sql  string
	args []any
}

// planning is a state in which a planner may find itself.
type planning struct {
	name    string
	setup   string // what brings it about
	generic bool   // whether it plans for any arguments: PostgreSQL does so from the sixth time on
	sorts   bool   // whether it sorts only where no index has the order
}

var sqlitePlannings = []planning{
	{name: "without statistics", sorts: true}, // as production has it
	{name: "with statistics", setup: "ANALYZE", sorts: true},
}

var postgresPlannings = []planning{
	{name: "for the arguments"},
	{name: "for any arguments", setup: "SET plan_cache_mode = force_generic_plan", generic: true},
	{name: "in order", setup: "SET enable_sort = off", generic: true, sorts: true},
}

// planner asks a database how it would go about a statement.
type planner struct {
	*sql.DB
	postgres bool
	columns  map[string][]string // of the indexes of PostgreSQL, by their names
}

func newPlanner(t *testing.T, url string) planner {
	t.Helper()
	p := planner{DB: dbtest.OpenPlain(t, url), postgres: !strings.HasPrefix(url, "sqlite:")}
	if p.postgres {
		p.readIndexes(t)
	}
	return p
}

func (p *planner) readIndexes(t *testing.T) {
	t.Helper()
	var answer []byte
	err := p.QueryRowContext(t.Context(), `SELECT json_object_agg(name, columns) FROM (
  SELECT i.indexrelid::regclass::text AS name, json_agg(pg_get_indexdef(i.indexrelid, k, true) ORDER BY k) AS columns
  FROM pg_index AS i CROSS JOIN generate_series(1, i.indnkeyatts) AS k
  WHERE i.indrelid::regclass::text NOT LIKE 'pg_%' GROUP BY i.indexrelid) AS indexes`).Scan(&answer)
	if err != nil {
		t.Fatal(err)
	}
	if err := json.Unmarshal(answer, &p.columns); err != nil {
		t.Fatal(err)
	}
}

func (p planner) plannings() []planning {
	if p.postgres {
		return postgresPlannings
	}
	return sqlitePlannings
}

func (p planner) exec(t *testing.T, statement string) {
	t.Helper()
	if _, err := p.ExecContext(t.Context(), statement); err != nil {
		t.Fatalf("%v in %s", err, statement)
	}
}

// steps are what matters of the plan of a statement.
type steps struct {
	wasted  []string // those that go through all of a table, or of an index, and that sort
	indexes []string // that are used, by name
}

func (p planner) plan(t *testing.T, by planning, a asked) (s steps) {
	t.Helper()
	if p.postgres {
		s.read(p.postgresPlan(t, by, a), by.sorts, p.columns)
		return s
	}
	return p.sqlitePlan(t, a)
}

// What SQLite says of a step that is no use of an index: rows without a table, which
// are in brackets, and what was computed on the way, may be scanned.
var (
	sqliteWaste   = regexp.MustCompile(`^SCAN|AUTOMATIC|TEMP B-TREE FOR .*ORDER BY`)
	sqliteNoTable = regexp.MustCompile(`^SCAN (\(|CONSTANT ROW|(b|r|v|up|runs|expired|json_each)\b)`)
	sqliteIndex   = regexp.MustCompile(`INDEX (\w+)`)
)

func (p planner) sqlitePlan(t *testing.T, a asked) (s steps) {
	t.Helper()
	rows, err := p.QueryContext(t.Context(), "EXPLAIN QUERY PLAN "+a.sql, a.args...)
	if err != nil {
		t.Fatalf("%v in\n%s", err, a.sql)
	}
	defer func() { _ = rows.Close() }()
	for rows.Next() {
		var id, parent, unused int
		var step string
		if err := rows.Scan(&id, &parent, &unused, &step); err != nil {
			t.Fatal(err)
		}
		if sqliteWaste.MatchString(step) && !sqliteNoTable.MatchString(step) {
			s.wasted = append(s.wasted, step)
		}
		if m := sqliteIndex.FindStringSubmatch(step); m != nil {
			s.indexes = append(s.indexes, m[1])
		}
	}
	if err := rows.Err(); err != nil {
		t.Fatal(err)
	}
	return s
}

// postgresNode is a step of a plan.
type postgresNode struct {
	Type      string         `json:"Node Type"`
	Relation  string         `json:"Relation Name"`
	Index     string         `json:"Index Name"`
	Condition string         `json:"Index Cond"`
	Plans     []postgresNode `json:"Plans"`
}

var placeholder = regexp.MustCompile(`\$(\d+)`)

func (p planner) postgresPlan(t *testing.T, by planning, a asked) postgresNode {
	t.Helper()
	explain, args := "EXPLAIN (FORMAT JSON) "+a.sql, a.args
	if by.generic {
		p.exec(t, "PREPARE asked AS "+a.sql)
		defer p.exec(t, "DEALLOCATE asked")
		n := 0
		for _, m := range placeholder.FindAllStringSubmatch(a.sql, -1) {
			of, _ := strconv.Atoi(m[1])
			n = max(n, of)
		}
		explain, args = "EXPLAIN (FORMAT JSON) EXECUTE asked", nil
		if n > 0 {
			explain += "(NULL" + strings.Repeat(", NULL", n-1) + ")"
		}
	}
	var answer []byte
	if err := p.QueryRowContext(t.Context(), explain, args...).Scan(&answer); err != nil {
		t.Fatalf("%v in\n%s", err, a.sql)
	}
	var plans []struct{ Plan postgresNode }
	if err := json.Unmarshal(answer, &plans); err != nil || len(plans) != 1 {
		t.Fatalf("%v in %s", err, answer)
	}
	return plans[0].Plan
}

// computed reports whether n reads nothing but what the statement computed before.
func (n postgresNode) computed() bool {
	if len(n.Plans) == 0 {
		return n.Type == "CTE Scan"
	}
	return !slices.ContainsFunc(n.Plans, func(below postgresNode) bool { return !below.computed() })
}

// skips reports whether n knows a column of its index and not one before it: it then goes
// through all that the columns before have.
func (n postgresNode) skips(columns []string) bool {
	missing := false
	for _, c := range columns {
		known := regexp.MustCompile(`\b` + regexp.QuoteMeta(c) + `\b`).MatchString(n.Condition)
		if known && missing {
			return true
		}
		missing = missing || !known
	}
	return false
}

// read takes what matters of n and the steps below it.
func (s *steps) read(n postgresNode, sorts bool, columns map[string][]string) {
	switch n.Type {
	case "Seq Scan":
		s.wasted = append(s.wasted, "Seq Scan on "+n.Relation)
	case "Index Scan", "Index Only Scan", "Bitmap Index Scan":
		s.indexes = append(s.indexes, n.Index)
		if n.Condition == "" && n.Index != "deliveries_backlog" { // which holds what is counted and nothing else
			s.wasted = append(s.wasted, fmt.Sprintf("%s of all of %s", n.Type, n.Index))
		}
		if n.skips(columns[n.Index]) {
			s.wasted = append(s.wasted, fmt.Sprintf("%s past much of %s: %s", n.Type, n.Index, n.Condition))
		}
	case "Sort", "Incremental Sort":
		if sorts && !n.computed() {
			s.wasted = append(s.wasted, n.Type)
		}
	}
	for _, below := range n.Plans {
		s.read(below, sorts, columns)
	}
}
