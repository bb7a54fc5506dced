package db

import (
	"errors"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/collectors"
)

// Register exports the state of the pools, as go_sql_… with the pool in db_name,
// and what only this database can be asked (OP-8).
func (s *Store) Register(reg prometheus.Registerer) error {
	err := reg.Register(collectors.NewDBStatsCollector(s.writer.DB.DB, s.Name()))
	if s.reader != s.writer {
		err = errors.Join(err, reg.Register(collectors.NewDBStatsCollector(s.reader.DB.DB, s.Name()+"_readers")))
	}
	for _, c := range s.dialect.collectors() {
		err = errors.Join(err, reg.Register(c))
	}
	return err
}
