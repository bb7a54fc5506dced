package db

import (
	"context"
	"sync"
)

// keyedMutex is a mutex for every key, given in the order it was asked for. The
// zero value is ready.
type keyedMutex struct {
	mu    sync.Mutex
	locks map[string]*keyLock
}

type keyLock struct {
	held  chan struct{} // full while somebody holds the key
	users int           // holder and waiters
}

// lock waits until the caller alone holds key, or ctx is done. The empty key is
// nobody's: it never waits.
func (m *keyedMutex) lock(ctx context.Context, key string) (unlock func(), err error) {
	if key == "" {
		return func() {}, nil
	}
	l := m.join(key)
	select {
	case l.held <- struct{}{}:
		return func() { <-l.held; m.leave(key, l) }, nil
	case <-ctx.Done():
		m.leave(key, l)
		return nil, context.Cause(ctx)
	}
}

func (m *keyedMutex) join(key string) *keyLock {
	m.mu.Lock()
	defer m.mu.Unlock()
	l := m.locks[key]
	if l == nil {
		if m.locks == nil {
			m.locks = map[string]*keyLock{}
		}
		l = &keyLock{held: make(chan struct{}, 1)}
		m.locks[key] = l
	}
	l.users++
	return l
}

func (m *keyedMutex) leave(key string, l *keyLock) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if l.users--; l.users == 0 {
		delete(m.locks, key)
	}
}
