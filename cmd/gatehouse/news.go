package main

import (
	"gatehouse/db"
	"gatehouse/domain/event"
)

// news is how changes are told: to those who wait in this process, and to the other
// processes on the database (EV-4).
type news struct {
	hub      *event.Hub
	exchange *db.Exchange
}

func newNews(store *db.Store) news {
	hub := event.NewHub()
	return news{hub, store.Exchange(hub)}
}
