// Package probe lets tests watch the statements of a store, and make them fail.
// Only the packages below db can name it, so production code cannot set one.
package probe

// When says on which side of a statement a probe is asked.
type When string

// The two sides. An error Before keeps the statement from reaching the database;
// an error After is what a caller sees whose answer was lost.
const (
	Before When = "before"
	After  When = "after"
)

// Func is asked around every statement, BEGIN, COMMIT and ROLLBACK included, with the
// arguments of its $1, $2, …, which it must not change. The error it returns becomes
// the statement's. It must be safe for concurrent use.
type Func func(when When, sql string, args []any) error
