package domain

import "time"

// Storable reports whether t has a year of 1 to 9999 in UTC. An offset can lead a
// time that is well-formed out of that range, where neither RFC 3339 nor the
// databases can hold it.
func Storable(t time.Time) bool {
	year := t.UTC().Year()
	return year >= 1 && year <= 9999
}

// CheckTime notes in p that a time is out of the range that can be stored.
func CheckTime(p *Problems, field string, t time.Time) {
	if !Storable(t) {
		p.Add(field, ProblemRange, "must be in the years 1 to 9999, in UTC")
	}
}
