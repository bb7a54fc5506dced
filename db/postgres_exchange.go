package db

import (
	"context"
	"log/slog"
	"maps"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/jackc/pgx/v5"

	"gatehouse/domain"
	"gatehouse/domain/event"
)

// channel is what processes tell each other on. A notification is lines of text: the
// sender, so that it can tell its own, and then a task and its change number each, or
// allTasks. It is ids and numbers alone: everybody who may connect can listen.
const (
	channel    = "gatehouse_changes"
	allTasks   = "*"
	notifySQL  = `SELECT pg_notify('` + channel + `', payload) FROM unnest($1::text[]) AS payload`
	maxPayload = 7900 // bytes; the server takes less than 8000
	maxUntold  = 10_000
)

// How long the telling waits: between two statements, for one of them, and for the
// last one when the process ends.
const (
	notifyEvery   = 5 * time.Millisecond
	notifyTimeout = 5 * time.Second
	notifyLast    = time.Second
)

// postgresExchange batches what has to be told, so that a commit waits for nothing and
// many of them cost one statement: NOTIFY in the transaction itself makes all commits
// of the server take turns.
type postgresExchange struct {
	hub    *event.Hub
	pool   *pool
	config *pgx.ConnConfig
	sender string
	log    *slog.Logger
	kick   chan struct{} // there is something untold

	mu     sync.Mutex
	untold map[string]int64 // the last change number by task
	all    bool             // there were too many tasks to name
}

func (d postgres) exchange(s *Store, hub *event.Hub) *Exchange {
	e := &postgresExchange{
		hub: hub, pool: s.writer, config: d.config, sender: domain.NewID(), log: s.log,
		kick: make(chan struct{}, 1), untold: map[string]int64{},
	}
	ctx, cancel := context.WithCancel(context.Background())
	var running sync.WaitGroup
	running.Go(func() { e.tellAll(ctx) })
	running.Go(func() { e.listen(ctx) })
	return &Exchange{e, func() { cancel(); running.Wait() }}
}

// Publish implements event.Publisher. It waits for nobody and never fails.
func (e *postgresExchange) Publish(ctx context.Context, n event.Notice) error {
	e.note(n)
	return e.hub.Publish(ctx, n)
}

func (e *postgresExchange) note(n event.Notice) {
	e.mu.Lock()
	defer e.mu.Unlock()
	if _, known := e.untold[n.TaskID]; !known && len(e.untold) == maxUntold {
		e.all = true
	} else {
		e.untold[n.TaskID] = max(n.Seq, e.untold[n.TaskID])
	}
	select {
	case e.kick <- struct{}{}:
	default:
	}
}

// tellAll tells what there is until ctx ends, and then what is left.
func (e *postgresExchange) tellAll(ctx context.Context) {
	for {
		select {
		case <-ctx.Done():
			e.tell(ctx, notifyLast)
			return
		case <-e.kick:
		}
		e.tell(ctx, notifyTimeout)
		select {
		case <-ctx.Done():
		case <-time.After(notifyEvery): // what comes meanwhile goes together
		}
	}
}

// tell sends what is untold in one statement, also when ctx has ended. What cannot be
// sent is lost: whoever waits for it looks by themselves (EV-4).
func (e *postgresExchange) tell(ctx context.Context, patience time.Duration) {
	payloads := e.take()
	if len(payloads) == 0 {
		return
	}
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), patience)
	defer cancel()
	if err := e.pool.run(ctx, query(ignored, notifySQL, payloads)); err != nil {
		e.log.LogAttrs(ctx, slog.LevelWarn, "other processes not told of changes", slog.Any("error", postgres{}.classify(err)))
	}
}

// take returns the notifications that tell what is untold, which it is from then on.
func (e *postgresExchange) take() []string {
	e.mu.Lock()
	defer e.mu.Unlock()
	defer func() { e.untold, e.all = map[string]int64{}, false }()
	if e.all {
		return []string{e.sender + "\n" + allTasks}
	}
	return payloads(e.sender, e.untold)
}

// payloads are notifications that name all tasks, each of at most maxPayload bytes.
func payloads(sender string, tasks map[string]int64) []string {
	var all []string
	var b strings.Builder
	for _, id := range slices.Sorted(maps.Keys(tasks)) {
		line := "\n" + id + " " + strconv.FormatInt(tasks[id], 10)
		if b.Len() > 0 && b.Len()+len(line) > maxPayload {
			all = append(all, b.String())
			b.Reset()
		}
		if b.Len() == 0 {
			b.WriteString(sender)
		}
		b.WriteString(line)
	}
	if b.Len() > 0 {
		all = append(all, b.String())
	}
	return all
}

// hear wakes the hub by a notification. What it cannot read, of another version of the
// program, may mean anything.
func (e *postgresExchange) hear(payload string) {
	sender, lines, _ := strings.Cut(payload, "\n")
	if sender == e.sender {
		return // the hub was told when it was committed
	}
	for line := range strings.SplitSeq(lines, "\n") {
		id, number, _ := strings.Cut(line, " ")
		seq, err := strconv.ParseInt(number, 10, 64)
		if err != nil {
			e.hub.WakeAll()
			return
		}
		e.hub.Wake(id, seq)
	}
}
