package db

import (
	"context"
	"database/sql"
	"errors"
	"sync"
)

// stmtCache holds the prepared statements of a pool, by their text. Preparing
// takes a connection, for which a transaction, that has one, must not wait: it notes
// what it missed, and that is prepared before the next one begins.
type stmtCache struct {
	spell  func(query string) string // how the driver reads a text fastest; nil for as it is
	mu     sync.Mutex
	stmts  map[string]*sql.Stmt
	missed map[string]struct{}
}

// get is the prepared statement, or nil the first time it is asked for.
func (c *stmtCache) get(query string) *sql.Stmt {
	c.mu.Lock()
	defer c.mu.Unlock()
	st := c.stmts[query]
	if st == nil {
		if c.missed == nil {
			c.missed = map[string]struct{}{}
		}
		c.missed[query] = struct{}{}
	}
	return st
}

// prepare prepares what was missed. Call it without a connection of db in hand.
func (c *stmtCache) prepare(ctx context.Context, db *sql.DB) error {
	for _, query := range c.takeMissed() {
		text := query
		if c.spell != nil {
			text = c.spell(query)
		}
		st, err := db.PrepareContext(ctx, text)
		if err != nil {
			return err
		}
		c.put(query, st)
	}
	return nil
}

// prepared is get for who has no connection of db in hand: it prepares at once.
func (c *stmtCache) prepared(ctx context.Context, db *sql.DB, query string) (*sql.Stmt, error) {
	for {
		if st := c.get(query); st != nil {
			return st, nil
		}
		if err := c.prepare(ctx, db); err != nil {
			return nil, err
		}
	}
}

func (c *stmtCache) takeMissed() []string {
	c.mu.Lock()
	defer c.mu.Unlock()
	if len(c.missed) == 0 {
		return nil
	}
	queries := make([]string, 0, len(c.missed))
	for query := range c.missed {
		queries = append(queries, query)
	}
	clear(c.missed)
	return queries
}

func (c *stmtCache) put(query string, st *sql.Stmt) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.stmts == nil {
		c.stmts = map[string]*sql.Stmt{}
	}
	if c.stmts[query] != nil {
		_ = st.Close()
		return
	}
	c.stmts[query] = st
}

// close closes them all.
func (c *stmtCache) close() error {
	c.mu.Lock()
	defer c.mu.Unlock()
	var errs []error
	for _, st := range c.stmts {
		errs = append(errs, st.Close())
	}
	clear(c.stmts)
	return errors.Join(errs...)
}
