package domain

import (
	"regexp"
	"strings"

	"github.com/google/uuid"
)

// Ids that stand alone in a path are UUIDs in canonical lower case; ours are
// version 7, so that rows of one time lie together (API-1).

// NewID returns a fresh id.
func NewID() string { return uuid.Must(uuid.NewV7()).String() }

// DeriveID returns the id that the names always give within space, itself an
// id: the same names, the same id, in every process and on every day.
func DeriveID(space string, names ...string) string {
	return uuid.NewSHA1(uuid.MustParse(space), []byte(strings.Join(names, "\x00"))).String()
}

var canonicalID = regexp.MustCompile(`^[0-9a-fA-F]{8}-[0-9a-fA-F]{4}-[0-9a-fA-F]{4}-[0-9a-fA-F]{4}-[0-9a-fA-F]{12}$`)

// ParseID returns s in the form in which ids are stored, and whether s is an id.
func ParseID(s string) (string, bool) {
	if !canonicalID.MatchString(s) {
		return "", false
	}
	return strings.ToLower(s), true
}

var clientID = regexp.MustCompile(`^[A-Za-z0-9._:-]{1,128}$`)

// ValidClientID reports whether s may be a client_message_id, client_queue_id
// or client_admission_id (API-1).
func ValidClientID(s string) bool { return clientID.MatchString(s) }
