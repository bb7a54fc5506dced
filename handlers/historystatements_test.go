package handlers_test

import (
	"strings"
	"testing"

	"gatehouse/db/dbtest"
	"gatehouse/domain/access"
)

// HI-23, HI-26: over HTTP a read of a history takes the statements of the store, and
// those that say who asks; an administrator's page takes no more than a user's.
func TestHistoryStatements(t *testing.T) {
	eachTranscript(t, func(t *testing.T, s *transcript) {
		s.call("PATCH", s.delegate(t), `{"status": "completed"}`).do(t).want(t, 200)
		var statements []string
		dbtest.Probe(t, s.store, func(when dbtest.When, sql string) error {
			if when == dbtest.Before && sql != "COMMIT" && sql != "ROLLBACK" && !strings.HasPrefix(sql, "BEGIN") {
				statements = append(statements, sql)
			}
			return nil
		})
		cost := func(path string, scope access.Scope) int {
			statements = nil
			s.call("GET", path).as(scope).do(t).want(t, 200)
			if n := len(statements); n == 0 || n > 5 {
				t.Errorf("%s took %d statements:\n%s", path, n, strings.Join(statements, "\n"))
			}
			return len(statements)
		}
		for _, path := range []string{"/messages?limit=1&before=9", "/messages?after=0", "/rounds", "/file-changes"} {
			cost(s.session+path, access.ScopeUser)
		}
		user, admin := cost(s.session+"/messages", access.ScopeUser), cost("/v1/admin/sessions/"+s.main+"/messages", access.ScopeAdmin)
		if user < admin {
			t.Errorf("an administrator's page took %d statements, a user's %d", admin, user)
		}
	})
}
