package db

import "gatehouse/domain/event"

// Exchange publishes what this process committed, to its own hub and to the hubs of
// the other processes on the database (EV-4). It is used after a commit and never in a
// transaction.
type Exchange struct {
	event.Publisher
	close func()
}

// Exchange starts one for hub. Of a database that has one process, the hub is all of
// it. Close it before the store.
func (s *Store) Exchange(hub *event.Hub) *Exchange { return s.dialect.exchange(s, hub) }

// Close tells the others what they were not told yet, as far as that is quick, and
// ends what runs in the background. Closing it again changes nothing.
func (e *Exchange) Close() { e.close() }
