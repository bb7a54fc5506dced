package load_test

import (
	"fmt"
	"testing"
	"time"

	"gatehouse/db/dbtest"
	"gatehouse/test/process"
)

// Clients of a comparison of servers, in all, and what each admits in a turn. Every
// server has connections for its share alone, or the database had too many.
const (
	clientsOfAll = 32
	promptsEach  = 40
)

// BenchmarkProcesses measures admissions by two and by four servers on one PostgreSQL
// against those of one server, with as many clients in all (QU-11).
func BenchmarkProcesses(b *testing.B) {
	for _, servers := range []int{2, 4} {
		b.Run(fmt.Sprintf("servers=%d", servers), func(b *testing.B) {
			database := dbtest.DurablePostgres(b)
			const each = clientsOfAll * promptsEach
			manyURL, oneURL := database.NewURL(b), database.NewURL(b)
			_ = seed(b, manyURL, each*(longTurns+1)).Close()
			_ = seed(b, oneURL, each*(longTurns+1)).Close()
			many, one := newFleet(b, manyURL, servers), newFleet(b, oneURL, 1)
			compare(b, "QU-11", longTurns, each,
				func(round int) time.Duration { return many.admit(b, each*round, promptsEach) },
				func(round int) time.Duration { return one.admit(b, each*round, promptsEach) })
		})
	}
}

// newFleet starts servers on a database and spreads clients over them.
func newFleet(b *testing.B, url string, servers int) *admitter {
	b.Helper()
	a := &admitter{}
	for range servers {
		server := process.Start(b, url, "--log-level=info", fmt.Sprintf("--database-max-connections=%d", max(4, clientsOfAll/2/servers)))
		for range clientsOfAll / servers {
			a.clients = append(a.clients, newWire(b, server.URL))
		}
	}
	return a
}
