package config

import (
	"net/url"
	"strings"
)

// SQLiteFile is the file of a database of the form sqlite:///absolute/file,
// sqlite://./relative/file or sqlite:file, and whether it is one (OP-3).
func (s Settings) SQLiteFile() (path string, ok bool) {
	path, ok = strings.CutPrefix(s.Database, "sqlite:")
	path = strings.TrimPrefix(path, "//")
	if !ok || path == "" || strings.HasSuffix(path, "/") || strings.ContainsAny(path, "?#\x00") {
		return "", false
	}
	return path, true
}

// Postgres reports whether the database is a URL of PostgreSQL (OP-3).
func (s Settings) Postgres() bool {
	u, err := url.Parse(s.Database)
	return err == nil && (u.Scheme == "postgres" || u.Scheme == "postgresql")
}

// hidden stands where a secret would.
const hidden = "(hidden)"

// withoutSecrets is a URL with its password, in either place, hidden. What cannot
// be parsed is hidden as a whole.
func withoutSecrets(raw string) string {
	u, err := url.Parse(raw)
	if err != nil {
		return hidden
	}
	query := u.Query()
	for name := range query {
		if strings.Contains(strings.ToLower(name), "pass") {
			query.Set(name, "xxxxx") // as Redacted does
			u.RawQuery = query.Encode()
		}
	}
	if _, has := u.User.Password(); has || u.RawQuery != "" {
		return u.Redacted()
	}
	return raw
}
