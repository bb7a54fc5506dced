package handlers

import (
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"strconv"
	"unicode/utf8"

	"github.com/getkin/kin-openapi/openapi3"

	"gatehouse/domain"
)

// parameter is a parameter of the contract in a query or a header. Those in paths
// are ids, and what is no id is the 404 of its kind, never a problem (API-2).
type parameter struct {
	name     string
	required bool
	schema   *schema
}

func (c compiler) parameters(in string, list openapi3.Parameters) ([]parameter, error) {
	var out []parameter
	for _, ref := range list {
		if ref.Value.In != in {
			continue
		}
		s, err := c.compile(ref.Value.Schema)
		if err != nil {
			return nil, fmt.Errorf("parameter %s: %w", ref.Value.Name, err)
		}
		if s.kind == openapi3.TypeObject || s.kind == openapi3.TypeArray || s.kind == "" {
			return nil, fmt.Errorf("parameter %s: only single values are enforced by this server", ref.Value.Name)
		}
		out = append(out, parameter{ref.Value.Name, ref.Value.Required, s})
	}
	return out, nil
}

// judgeQuery notes what is wrong with a query, what nobody asked for included
// (API-7). One that cannot be read is [errMalformed].
func (f *findings) judgeQuery(raw string, known []parameter) error {
	query, err := url.ParseQuery(raw)
	if err != nil {
		return errMalformed
	}
	f.at = []step{{name: "query"}}
	for _, p := range known {
		f.judgeValues(p, query[p.name])
		delete(query, p.name)
	}
	for name := range query {
		f.addAt(step{name: name, secret: !publicName.MatchString(name)}, domain.ProblemUnknown, "is not known here")
	}
	return nil
}

func (f *findings) judgeHeader(h http.Header, known []parameter) {
	f.at = []step{{name: "header"}}
	for _, p := range known {
		f.judgeValues(p, h.Values(p.name))
	}
}

func (f *findings) judgeValues(p parameter, values []string) {
	f.at = append(f.at, step{name: p.name})
	defer func() { f.at = f.at[:len(f.at)-1] }()
	switch {
	case len(values) > 1:
		f.add(domain.ProblemDuplicate, "must be given once")
	case len(values) == 1:
		f.judgeValue(p.schema, values[0])
	case p.required:
		f.add(domain.ProblemRequired, "is missing")
	}
}

func (f *findings) judgeValue(s *schema, value string) {
	switch s.kind {
	case openapi3.TypeString:
		if !utf8.ValidString(value) {
			f.add(domain.ProblemFormat, "must be UTF-8")
		}
		if domain.HasNUL(value) {
			f.add(domain.ProblemNUL, "must not contain U+0000")
		}
		f.text(s, value)
	case openapi3.TypeBoolean:
		if value != "true" && value != "false" {
			f.wrongType(s)
		}
	default:
		if _, err := strconv.ParseFloat(value, 64); err != nil && !errors.Is(err, strconv.ErrRange) {
			f.wrongType(s)
			return
		}
		f.number(s, value)
	}
}
