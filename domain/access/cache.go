package access

import (
	"sync"
	"time"
)

// cacheSize bounds how many entries a cache holds. One more forgets them all.
const cacheSize = 4096

// cache remembers values for a time. It is safe for concurrent use.
type cache[K comparable, V any] struct {
	mu      sync.Mutex
	entries map[K]cached[V]
}

type cached[V any] struct {
	value V
	until time.Time
}

func newCache[K comparable, V any]() *cache[K, V] {
	return &cache[K, V]{entries: map[K]cached[V]{}}
}

func (c *cache[K, V]) get(key K, now time.Time) (V, bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	e, ok := c.entries[key]
	return e.value, ok && now.Before(e.until)
}

func (c *cache[K, V]) put(key K, value V, until time.Time) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if len(c.entries) >= cacheSize {
		clear(c.entries)
	}
	c.entries[key] = cached[V]{value, until}
}

func (c *cache[K, V]) forget(key K) {
	c.mu.Lock()
	defer c.mu.Unlock()
	delete(c.entries, key)
}
