package db_test

import (
	"testing"

	"gatehouse/db"
)

// Only arguments that stand in order, each once, lose their names: any other statement
// would be given other values.
func TestUnnamed(t *testing.T) {
	for text, want := range map[string]string{
		"SELECT 1": "SELECT 1",
		"INSERT INTO t VALUES ($1, $2), ($3, $4)":        "INSERT INTO t VALUES (?, ?), (?, ?)",
		"SELECT a ->> '$.\"b\"' FROM t WHERE id = $1":    "SELECT a ->> '$.\"b\"' FROM t WHERE id = ?",
		"UPDATE t SET a = $1, b = $1 WHERE id = $2":      "UPDATE t SET a = $1, b = $1 WHERE id = $2",
		"UPDATE t SET a = $2 WHERE id = $1":              "UPDATE t SET a = $2 WHERE id = $1",
		"SELECT $1, $2, $3, $4, $5, $6, $7, $8, $9, $10": "SELECT ?, ?, ?, ?, ?, ?, ?, ?, ?, ?",
	} {
		if got := db.Unnamed(text); got != want {
			t.Errorf("%s became %s, want %s", text, got, want)
		}
	}
}
