package db

import (
	"context"
	"fmt"
)

// Ready asks whether the database can serve this program: both pools answer, and
// the schema is the one it knows (OP-14). The error says what is wrong.
func (s *Store) Ready(ctx context.Context) error {
	for _, p := range []*pool{s.writer, s.reader} {
		if err := p.PingContext(ctx); err != nil {
			return fmt.Errorf("database: %w", s.classify(ctx, err))
		}
	}
	version, err := s.SchemaVersion(ctx)
	if err != nil {
		return fmt.Errorf("schema version: %w", err)
	}
	target, err := s.TargetVersion()
	if err != nil {
		return fmt.Errorf("schema version: %w", err)
	}
	return checkVersion(version, target)
}
