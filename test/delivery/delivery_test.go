// Package delivery_test holds the promise of delivery against real processes
// (QU-20, QU-21): servers, runners, and an agent that counts what it was given.
//
// A runner tells the test before and after each of its steps and waits for its leave,
// so that the test can do to it, to a server or to a connection of the database
// whatever it likes at that very moment: stop the runner past its lease (SIGSTOP) and
// let it go on, kill the runner and start another, kill the server (kill -9) before,
// during and after a step, cut the connections of the servers. Every such mishap
// happens at every step, on PostgreSQL with two servers and on SQLite with one.
// At the end database, agent and what was answered are held against each other:
//
//   - no prompt crosses the boundary twice, and no agent gets one twice;
//   - every prompt that was accepted is still there, and what became of it is said;
//   - each has one row in the transcript;
//   - who lost a lease is told so, whatever is tried with the old token;
//   - what was answered with success is in the database.
//
// GATEHOUSE_TEST_ROUNDS is how often every mishap happens at every step, once by
// default, and GATEHOUSE_TEST_SEED repeats the choices of a run as far as the
// machine does.
package delivery_test

import (
	"math/rand/v2"
	"os"
	"testing"
	"time"

	"gatehouse/db/dbtest"
	"gatehouse/test/process"
)

// TestMain runs the tests, or is one of the processes that they start.
func TestMain(m *testing.M) {
	switch os.Getenv(roleVariable) {
	case roleAgent:
		os.Exit(beAgent())
	case roleRunner:
		os.Exit(beRunner())
	}
	os.Exit(process.Main(m))
}

// Sizes of the scene.
const (
	runners      = 4
	sessions     = 4
	leaseSeconds = 1
)

// lapse is how long a runner is stopped: its lease ends meanwhile.
const lapse = leaseSeconds*time.Second + 200*time.Millisecond

// within bounds what may hang.
const within = 5 * time.Minute

// QU-20, QU-21, DL-1, DL-2, DL-4.
func TestDeliveries(t *testing.T) {
	rounds, seed := process.Number(t, "GATEHOUSE_TEST_ROUNDS", 1), process.Number(t, "GATEHOUSE_TEST_SEED", rand.Uint64())
	t.Logf("GATEHOUSE_TEST_ROUNDS=%d GATEHOUSE_TEST_SEED=%d", rounds, seed)
	dbtest.EachURL(t, func(t *testing.T, newURL func(testing.TB) string) {
		url := newURL(t)
		d := newDirector(t, url, rounds, seed)
		for range runners {
			d.hire(t)
		}
		d.feed(t)
		d.drain(t)
		d.dismiss(t)
		for _, s := range d.servers {
			s.Stop(t)
		}
		process.CheckDatabase(t, url)
		d.judge(t)
	})
}
