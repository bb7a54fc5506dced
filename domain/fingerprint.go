package domain

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
)

// Fingerprint tells a repeated request from another one under the same id
// (API-8): the SHA-256, in hex, of what the request says. Two values that encode
// to the same JSON have the same fingerprint.
func Fingerprint(request any) string {
	b, err := json.Marshal(request)
	if err != nil {
		panic(err) // requests are plain values: they always encode
	}
	sum := sha256.Sum256(b)
	return hex.EncodeToString(sum[:])
}
