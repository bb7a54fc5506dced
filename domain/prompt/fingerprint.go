package prompt

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"maps"
	"slices"
)

// Fingerprint tells an exact retry from another request under the same client id
// (AD-7): the SHA-256, in hex, of every field of a canonical request, by the name
// of the request's member. A field at its default is absent, so that a field which
// a later version adds does not break the retries of requests made before it.
type Fingerprint map[string]string

// fingerprint is the Fingerprint of a canonical request, see [Request.checked].
// Preconditions are no part of it: the state that a session was expected to have
// says nothing about what was to be sent.
func (r Request) fingerprint() Fingerprint {
	if r.run != nil {
		return r.run.fingerprint()
	}
	f := Fingerprint{}
	f.add("transport", string(r.Kind))
	f.add("session_id", r.SessionID)
	f.add("content", r.Content)
	if len(r.Refs) > 0 {
		f.add("plan_comment_refs", string(encode(r.Refs)))
	}
	if r.RequirePrimary {
		f.add("require_primary_session", "true")
	}
	if r.PlanMode {
		f.add("plan_mode", "true")
	}
	if r.Model != nil {
		f.add("model", *r.Model)
	}
	if len(r.AttachmentIDs) > 0 {
		f.add("attachment_ids", string(encode(r.AttachmentIDs)))
	}
	if metadata := string(r.Metadata); metadata != "{}" {
		f.add("metadata", metadata)
	}
	return f
}

// add notes a field unless it has the default of a text, none.
func (f Fingerprint) add(field, value string) {
	if value == "" {
		return
	}
	sum := sha256.Sum256([]byte(value))
	f[field] = hex.EncodeToString(sum[:])
}

// Differing returns the names of the fields in which f and other are not equal,
// sorted; none when they are of the same request.
func (f Fingerprint) Differing(other Fingerprint) []string {
	differing := map[string]bool{}
	for _, fields := range []Fingerprint{f, other} {
		for name := range fields {
			if f[name] != other[name] {
				differing[name] = true
			}
		}
	}
	return slices.Sorted(maps.Keys(differing))
}

// encode is the JSON of a plain value.
func encode(v any) json.RawMessage {
	b, err := json.Marshal(v)
	if err != nil {
		panic(err) // texts and numbers always encode
	}
	return b
}
