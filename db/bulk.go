package db

import (
	"strconv"
	"strings"
)

// bulkRows is how many rows of a bulk are one statement.
const bulkRows = 20

// bulk inserts rows into a table, twenty at a time and what is left one by one: both
// texts are prepared, and a row in a statement costs half of one alone.
type bulk struct{ one, many string }

// newBulk is a bulk of rows of so many columns, which are named with spaces between.
// The rest of the statement says what becomes of a conflict.
func newBulk(table, columns, rest string) bulk {
	names := strings.Fields(columns)
	text := func(rows int) string {
		values := make([]string, rows)
		for i := range values {
			marks := make([]string, len(names))
			for k := range marks {
				marks[k] = "$" + strconv.Itoa(i*len(names)+k+1)
			}
			values[i] = "(" + strings.Join(marks, ", ") + ")"
		}
		return "INSERT INTO " + table + " (" + strings.Join(names, ", ") + ") VALUES " + strings.Join(values, ", ") + " " + rest
	}
	return bulk{text(1), text(bulkRows)}
}

// stmts are the statements for rows, each the arguments of its columns. counted is
// added the number of those that were inserted; nil to count none.
func (b bulk) stmts(rows [][]any, counted *int64) []stmt {
	var stmts []stmt
	for len(rows) > 0 {
		n, text := 1, b.one
		if len(rows) >= bulkRows {
			n, text = bulkRows, b.many
		}
		st := stmt{sql: text, counted: counted}
		for _, row := range rows[:n] {
			st.args = append(st.args, row...)
		}
		stmts, rows = append(stmts, st), rows[n:]
	}
	return stmts
}
