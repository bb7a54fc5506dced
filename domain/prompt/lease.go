package prompt

import (
	"context"
	"crypto/rand"
	"crypto/sha256"
	"crypto/subtle"
	"encoding/base64"
	"encoding/hex"
	"time"
)

// Token proves a reservation: 256 random bits as base64url, known to its holder
// alone. Only its hash is stored.
type Token string

const tokenBytes = 32

// newToken returns a token that was never given before.
func newToken() Token {
	var b [tokenBytes]byte
	_, _ = rand.Read(b[:]) // never fails
	return Token(base64.RawURLEncoding.EncodeToString(b[:]))
}

// hash is what is stored of a token: its SHA-256, in hex.
func (t Token) hash() string {
	sum := sha256.Sum256([]byte(t))
	return hex.EncodeToString(sum[:])
}

// heldBy reports whether token is the one of d's last reservation. It takes the
// same time for every token.
func (d Delivery) heldBy(token Token) bool {
	return d.TokenHash != nil && subtle.ConstantTimeCompare([]byte(*d.TokenHash), []byte(token.hash())) == 1
}

// leased reports whether d is reserved and its lease is alive at now, a time of
// the database's clock. A lease that expires at now is over.
func (d Delivery) leased(now time.Time) bool {
	return d.State == StateReserved && d.LeaseExpiresAt != nil && now.Before(*d.LeaseExpiresAt)
}

// checkReserved judges a step that only the holder of a live reservation may do:
// attempt, release and renew. Whoever lost it, to time or to another, fails closed with
// [ErrLeaseLost] (DL-1); who has attempted the delivery already gets [ErrAttempted]
// (DL-2).
func (d Delivery) checkReserved(token Token, now time.Time) error {
	switch {
	case !d.heldBy(token):
		return ErrLeaseLost
	case d.AttemptedAt != nil:
		return ErrAttempted
	case !d.leased(now):
		return ErrLeaseLost
	default:
		return nil
	}
}

// held returns a delivery that the holder of token has reserved, and the time by which
// its lease is alive, the database's.
func held(ctx context.Context, tx Tx, taskID, id string, token Token) (d Delivery, now time.Time, err error) {
	if d, err = tx.Delivery(ctx, taskID, id); err != nil {
		return Delivery{}, time.Time{}, err
	}
	if now, err = tx.Now(ctx); err != nil {
		return Delivery{}, time.Time{}, err
	}
	return d, now, d.checkReserved(token, now)
}

// reserve gives d to the holder of token until expires.
func (d *Delivery) reserve(token Token, now, expires time.Time) {
	d.become(StateReserved, now)
	d.TokenHash = new(token.hash())
	d.LeaseExpiresAt = &expires
}

// unreserve puts d back to its place. Its token is worth nothing from then on.
func (d *Delivery) unreserve(now time.Time) {
	d.become(StatePending, now)
	d.TokenHash = nil
}
