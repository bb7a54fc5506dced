package feed

import (
	"context"
	"fmt"
	"runtime"
	"runtime/debug"
	"slices"
	"sync"

	"gatehouse/domain/event"
)

// keptReadings bounds what a room keeps. Streams that stand at one of the last few
// numbers find there what they are owed; the others read for themselves.
const keptReadings = 4

// room is a task that streams of this server follow.
type room struct {
	ctx     context.Context //nolint:containedctx // of what is read for all streams: none of them owns it
	cancel  context.CancelFunc
	taskID  string
	news    *event.Subscription
	streams map[*Stream]struct{} // guarded by the mutex of the service

	mu       sync.Mutex
	told     int64         // the greatest number that is known of
	moved    chan struct{} // closed when it grows, and another one then
	begun    int64         // readings so far
	readings []*reading    // the last ones, and what still runs
}

func newRoom(ctx context.Context, cancel context.CancelFunc, taskID string, news *event.Subscription) *room {
	return &room{
		ctx: ctx, cancel: cancel, taskID: taskID, news: news,
		streams: map[*Stream]struct{}{}, moved: make(chan struct{}),
	}
}

// reading is what is owed from a number on, read and encoded once.
type reading struct {
	no    int64 // the how manieth of its room
	since int64
	done  chan struct{} // closed when batch or err is there
	batch Batch
	err   error
}

func (r *reading) running() bool {
	select {
	case <-r.done:
		return false
	default:
		return true
	}
}

// serves reports whether a reading that has ended is of use: to a stream that begins, when
// it began after the reading numbered later; to others, for whom later is -1, when it goes
// on from where they stand.
func (r *reading) serves(later int64) bool {
	return r.no > later && (later >= 0 || r.batch.Seq != r.since)
}

// advance notes that the task is at seq at least, and wakes who stands below.
func (r *room) advance(seq int64) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if seq <= r.told {
		return
	}
	r.told = seq
	close(r.moved)
	r.moved = make(chan struct{})
}

// standing is the greatest number that is known of, and what is closed when it grows.
func (r *room) standing() (told int64, moved <-chan struct{}) {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.told, r.moved
}

// arrive is how many readings have begun: a later one shows what was there before now.
func (r *room) arrive() int64 {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.begun
}

// from is a reading from a number, which may still run. It begins one with read where
// there is none that serves: of one number, one runs at a time. Who needs a later one
// than runs waits for it, and then shares the next with all who came meanwhile.
func (r *room) from(since, later int64, read func(rd *reading)) *reading {
	r.mu.Lock()
	defer r.mu.Unlock()
	for _, rd := range r.readings {
		if rd.since == since && (rd.running() || rd.serves(later)) {
			return rd
		}
	}
	r.begun++
	rd := &reading{no: r.begun, since: since, done: make(chan struct{})}
	r.readings = append(r.readings, rd)
	told := r.told
	go func() {
		defer r.finish(rd, told)
		defer rd.recover()
		read(rd)
	}()
	return rd
}

// recover makes an error of a panic: it ends the streams that wait, and not the server.
// What was thrown may hold what people wrote, so only the runtime's own words are in it.
func (r *reading) recover() {
	switch thrown := recover().(type) {
	case nil:
	case runtime.Error:
		r.err = fmt.Errorf("panic: %w\n%s", thrown, debug.Stack())
	default:
		r.err = fmt.Errorf("panic: %T\n%s", thrown, debug.Stack())
	}
}

// finish keeps what was read, unless there is nothing in it for anybody. told is what
// was known when it began. What is told and is not there will not come: the database
// was replaced by an older one.
func (r *room) finish(rd *reading, told int64) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if rd.err == nil && rd.batch.Seq < told && told == r.told {
		r.told = rd.batch.Seq
	}
	close(rd.done)
	if rd.err != nil {
		r.readings = slices.DeleteFunc(r.readings, func(other *reading) bool { return other == rd })
		return
	}
	for i := 0; len(r.readings) > keptReadings && i < len(r.readings); {
		if r.readings[i].running() {
			i++
			continue
		}
		r.readings = slices.Delete(r.readings, i, i+1)
	}
}
