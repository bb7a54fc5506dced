package domain

import "time"

// Clock tells the time: UTC, truncated to the microsecond that databases keep.
type Clock func() time.Time

// SystemClock is the machine's clock.
func SystemClock() time.Time { return time.Now().UTC().Truncate(time.Microsecond) }
