package main

import (
	"log/slog"

	"github.com/prometheus/client_golang/prometheus"

	"gatehouse/cmd/gatehouse/internal/config"
	"gatehouse/db"
	"gatehouse/domain/feed"
	"gatehouse/handlers"
)

// newFeed is what streams of events read, and who is asked whether they may go on.
func newFeed(store *db.Store, cfg config.Settings, registry prometheus.Registerer, news news, guard feed.Guard, log *slog.Logger) (*feed.Service, error) {
	metrics, err := handlers.NewFeedMetrics(registry)
	if err != nil {
		return nil, err
	}
	return feed.NewService(feed.Config{
		Store:    store.Feed(),
		Waker:    news.hub,
		Guard:    guard,
		Log:      log,
		Encode:   handlers.EncodeEvent,
		Observer: metrics,
		Capacity: int64(cfg.QueueCapacity),
		Limit:    cfg.MaxStreams,
	}), nil
}
