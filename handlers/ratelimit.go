package handlers

import (
	"fmt"
	"math"
	"strconv"
	"time"

	lru "github.com/hashicorp/golang-lru/v2"
	"github.com/labstack/echo/v4"
	"golang.org/x/time/rate"
)

// RateLimit bounds how often one token may call (OP-11).
type RateLimit struct {
	PerSecond float64 // requests per second in the long run; 0 is no limit
	Burst     int     // requests at once, at least 1 where PerSecond is set
}

// rateTokens is how many tokens are watched at once. One that was forgotten
// begins anew.
const rateTokens = 4096

// limiter returns the step that refuses requests over the limit.
func (l RateLimit) limiter() (echo.MiddlewareFunc, error) {
	if l.PerSecond == 0 {
		return func(next echo.HandlerFunc) echo.HandlerFunc { return next }, nil
	}
	if l.PerSecond < 0 || l.Burst < 1 {
		return nil, fmt.Errorf("rate limit of %g per second and %d at once: want positive numbers", l.PerSecond, l.Burst)
	}
	buckets, err := lru.New[string, *rate.Limiter](rateTokens)
	if err != nil {
		return nil, fmt.Errorf("rate limit: %w", err)
	}
	return func(next echo.HandlerFunc) echo.HandlerFunc {
		return func(c echo.Context) error {
			r := requestOf(c.Request().Context())
			if r.operation.isPublic() {
				return next(c)
			}
			if wait := l.take(buckets, r.caller.TokenID); wait > 0 {
				c.Response().Header().Set(echo.HeaderRetryAfter, strconv.Itoa(int(math.Ceil(wait.Seconds()))))
				return errRateLimited
			}
			return next(c)
		}
	}, nil
}

// take takes one request out of the token's bucket, or says how long until there
// is one.
func (l RateLimit) take(buckets *lru.Cache[string, *rate.Limiter], tokenID string) time.Duration {
	fresh := rate.NewLimiter(rate.Limit(l.PerSecond), l.Burst)
	bucket, found, _ := buckets.PeekOrAdd(tokenID, fresh)
	if !found {
		bucket = fresh
	} else {
		buckets.Get(tokenID) // keeps the busy ones
	}
	taken := bucket.Reserve()
	wait := taken.Delay()
	if wait > 0 {
		taken.Cancel()
	}
	return wait
}
