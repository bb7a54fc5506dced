package db

import (
	"errors"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/collectors"
)

// Register exports the state of the pools, as go_sql_… with the pool in db_name,
// and on SQLite the size of the write-ahead log (OP-8).
func (s *Store) Register(reg prometheus.Registerer) error {
	err := reg.Register(collectors.NewDBStatsCollector(s.writer.DB.DB, s.Name()))
	if s.reader != s.writer {
		err = errors.Join(err, reg.Register(collectors.NewDBStatsCollector(s.reader.DB.DB, s.Name()+"_readers")))
	}
	if _, ours := s.dialect.walBytes(); ours {
		err = errors.Join(err, reg.Register(prometheus.NewGaugeFunc(prometheus.GaugeOpts{
			Name: "gatehouse_sqlite_wal_bytes",
			Help: "Size of the write-ahead log of the SQLite database.",
		}, s.walBytes)))
	}
	return err
}

func (s *Store) walBytes() float64 {
	n, _ := s.dialect.walBytes()
	return float64(n)
}
