// Package crash_test kills servers with kill -9 at random moments under mixed load
// and holds what is left against what was answered (QU-20):
//
//   - every answered change is in the database;
//   - every unanswered one is there as a whole or not at all, and sending it again
//     settles it;
//   - a comment is pending or in exactly one admission (invariant 1), a delivery
//     crosses the boundary at most once (2), a refused admission leaves no trace (3),
//     what a subagent changed is on the delegating message once (5), and every
//     invocation that frames told of has one message and one context.
//
// GATEHOUSE_TEST_KILLS is the number of kills per database, 20 by default, and
// GATEHOUSE_TEST_SEED repeats the choices of a run; the moments of the kills in the
// work of the server repeat only as far as the machine does.
package crash_test

import (
	"math/rand/v2"
	"os"
	"sync"
	"testing"
	"time"

	"gatehouse/db/dbtest"
	"gatehouse/test/process"
)

func TestMain(m *testing.M) { os.Exit(process.Main(m)) }

// tasks is how many tasks are worked on at a time, each by five workers.
const tasks = 3

// longest is how long a server lives at most before it is killed.
const longest = 600 * time.Millisecond

// QU-20.
func TestKill(t *testing.T) {
	kills, seed := process.Number(t, "GATEHOUSE_TEST_KILLS", 20), process.Number(t, "GATEHOUSE_TEST_SEED", rand.Uint64())
	t.Logf("GATEHOUSE_TEST_KILLS=%d GATEHOUSE_TEST_SEED=%d", kills, seed)
	dbtest.EachURL(t, func(t *testing.T, newURL func(testing.TB) string) {
		url, random := newURL(t), rand.New(rand.NewPCG(seed, 0))
		server := process.Start(t, url)
		crew := newCrew(t, server.Client, seed)
		for range kills {
			died := crew.work(t)
			pause(random, longest)
			server.Kill()
			died.Wait()
			if random.IntN(4) == 0 { // killed while it starts, too
				early := process.Launch(t, url)
				pause(random, longest/4)
				early.Kill()
			}
			server = process.Start(t, url)
			crew.settle(t, server.Client)
			if t.Failed() {
				return
			}
		}
		crew.finish(t)
		server.Stop(t)
		process.CheckDatabase(t, url)
		crew.report(t)
	})
}

// pause lets a random time pass: any moment of a kill will do.
func pause(random *rand.Rand, longest time.Duration) {
	time.Sleep(time.Duration(random.Int64N(int64(longest))))
}

// crew is all workers.
type crew struct {
	scenes  []*process.Scene
	workers []*worker
}

func newCrew(t *testing.T, client *process.Client, seed uint64) *crew {
	t.Helper()
	c := &crew{}
	for range tasks {
		scene := client.NewScene(t)
		c.scenes = append(c.scenes, scene)
		for _, newJob := range []func(*testing.T, *process.Scene, *rand.Rand) job{newRunner, newUser, newAgent, newDelegator, newReporter} {
			random := rand.New(rand.NewPCG(seed, uint64(len(c.workers)+1)))
			c.workers = append(c.workers, &worker{job: newJob(t, scene, random), scene: scene, done: map[string]int{}})
		}
	}
	return c
}

// work has every worker work until the server dies, and returns what waits for that.
func (c *crew) work(t *testing.T) *sync.WaitGroup {
	died := new(sync.WaitGroup)
	for _, w := range c.workers {
		died.Go(func() { w.work(t) })
	}
	return died
}

// settle goes over to a new server: each worker judges and repeats the change that
// was not answered, then checks its books.
func (c *crew) settle(t *testing.T, client *process.Client) {
	t.Helper()
	for _, scene := range c.scenes {
		scene.Client = client
	}
	for _, w := range c.workers {
		w.settle(t)
	}
	for _, w := range c.workers {
		w.check(t)
	}
}

// finish has every worker bring its work to an end, and checks all of it.
func (c *crew) finish(t *testing.T) {
	t.Helper()
	for _, w := range c.workers {
		w.finish(t)
	}
	for _, w := range c.workers {
		w.check(t)
	}
}

func (c *crew) report(t *testing.T) {
	total := map[string]int{}
	for _, w := range c.workers {
		for name, n := range w.done {
			total[name] += n
		}
	}
	t.Logf("changes by kind: %v", total)
}
