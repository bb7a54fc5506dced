-- +goose Up

-- What recovery looks for, oldest first: leases that are over, and attempts that nobody
-- acknowledged (DL-3).
CREATE INDEX deliveries_leases ON deliveries (lease_expires_at, id)
    WHERE state = 'reserved';
CREATE INDEX deliveries_attempts ON deliveries (attempted_at, id)
    WHERE state = 'attempted';
-- How much is owed and since when, without a look at the prompts themselves (OP-8).
CREATE INDEX deliveries_backlog ON deliveries (state, created_at)
    WHERE state IN ('pending', 'reserved', 'combined');
