package feed

import (
	"cmp"
	"context"
	"log/slog"
	"sync"
	"time"

	"gatehouse/domain"
	"gatehouse/domain/access"
	"gatehouse/domain/event"
	"gatehouse/domain/prompt"
)

// Failures of streams, apart from those of reading. That a task was deleted is
// [task.ErrNotFound], that a token is in force no more [access.ErrUnauthenticated].
var (
	// ErrEnded is that the server ends (EV-8).
	ErrEnded = domain.ErrUnavailable.With("The server ends; connect again.")
	// ErrTooMany is that a token has as many streams as it may have (OP-11).
	ErrTooMany = &domain.Error{Kind: domain.KindRateLimited, Code: "rate_limited", Detail: "The token has too many event streams open; close one of them."}
)

// Waker tells of changes.
type Waker interface {
	// Subscribe returns the news of a task. See [event.Hub].
	Subscribe(taskID string) *event.Subscription
}

// Guard tells who may still have something.
type Guard interface {
	// StillInForce is [access.ErrUnauthenticated] when the token of c is in force no more.
	StillInForce(ctx context.Context, c access.Caller) error
}

// Observer counts streams. It returns at once and never fails.
type Observer interface {
	Opened()
	Closed(r Reason)
}

// Config is what a [Service] works with.
type Config struct {
	Store Store
	Waker Waker
	Guard Guard
	Log   *slog.Logger

	// Encode makes the bytes of a payload that travel. They are one line.
	Encode func(p Payload) ([]byte, error)

	Observer Observer      // nil counts nothing
	Capacity int64         // deliveries that a session may be owed (AD-5); 0 is [domain.DefaultCapacity]
	Limit    int           // streams that a token may have open, or all who need none (OP-11); 0 is no limit
	Recheck  time.Duration // how often it looks by itself (EV-4, EV-6); 0 is [prompt.DefaultRecheck]
}

// Service opens streams of tasks.
type Service struct {
	Config

	kick chan struct{} // to look at all tasks now

	mu      sync.Mutex
	rooms   map[string]*room                // by task
	callers map[string]map[*Stream]struct{} // by token
	stop    context.CancelFunc              // of the periodic check, while there are rooms
}

// NewService returns a Service on c. It runs nothing while there are no streams.
func NewService(c Config) *Service {
	if c.Observer == nil {
		c.Observer = unobserved{}
	}
	c.Capacity = cmp.Or(c.Capacity, domain.DefaultCapacity)
	c.Recheck = cmp.Or(c.Recheck, prompt.DefaultRecheck)
	return &Service{
		Config:  c,
		kick:    make(chan struct{}, 1),
		rooms:   map[string]*room{},
		callers: map[string]map[*Stream]struct{}{},
	}
}

// Open starts a stream of a task for a caller, who was authorised for it. since is the
// number the follower stands at; nil, or one that the task has not come to, owes it
// everything (EV-1). The caller closes the stream. Too many of them are [ErrTooMany].
func (s *Service) Open(c access.Caller, taskID string, since *int64) (*Stream, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	of := s.callers[c.TokenID]
	if s.Limit > 0 && len(of) >= s.Limit {
		return nil, ErrTooMany
	}
	r := s.rooms[taskID]
	if r == nil {
		r = s.furnish(taskID)
	}
	st := newStream(s, r, c, since)
	r.streams[st] = struct{}{}
	if of == nil {
		of = map[*Stream]struct{}{}
		s.callers[c.TokenID] = of
	}
	of[st] = struct{}{}
	s.Observer.Opened()
	return st, nil
}

// furnish makes the room of a task. The service is locked.
func (s *Service) furnish(taskID string) *room {
	ctx, cancel := context.WithCancel(context.Background())
	r := newRoom(ctx, cancel, taskID, s.Waker.Subscribe(taskID))
	s.rooms[taskID] = r
	go s.listen(ctx, r)
	if s.stop == nil {
		ctx, s.stop = context.WithCancel(context.Background())
		go s.check(ctx)
	}
	return r
}

// listen tells a room the news of its task until the last stream has left, or the
// server ends (EV-8).
func (s *Service) listen(ctx context.Context, r *room) {
	for {
		select {
		case <-ctx.Done():
			return
		case seq, open := <-r.news.C():
			switch {
			case !open:
				s.empty(r, ErrEnded)
				return
			case seq > 0:
				r.advance(seq)
			default: // news may have been lost
				select {
				case s.kick <- struct{}{}:
				default:
				}
			}
		}
	}
}

// empty ends the streams of a room. Who comes later is not let into it.
func (s *Service) empty(r *room, err error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for st := range r.streams {
		st.end(err)
	}
	s.close(r)
}

// leave takes a stream out of its room, which is closed with the last one.
func (s *Service) leave(st *Stream, why Reason) {
	s.mu.Lock()
	defer s.mu.Unlock()
	r := st.room
	if _, here := r.streams[st]; !here {
		return
	}
	delete(r.streams, st)
	delete(s.callers[st.caller.TokenID], st)
	if len(s.callers[st.caller.TokenID]) == 0 {
		delete(s.callers, st.caller.TokenID)
	}
	if len(r.streams) == 0 {
		s.close(r)
	}
	s.Observer.Closed(why)
}

// close closes a room, if it is not closed, and with the last one the periodic check ends.
// The service is locked.
func (s *Service) close(r *room) {
	if s.rooms[r.taskID] != r {
		return
	}
	r.news.Close()
	r.cancel()
	delete(s.rooms, r.taskID)
	if len(s.rooms) == 0 {
		s.stop()
		s.stop = nil
	}
}

// unobserved is the Observer that counts nothing.
type unobserved struct{}

// Opened implements Observer.
func (unobserved) Opened() {}

// Closed implements Observer.
func (unobserved) Closed(Reason) {}
