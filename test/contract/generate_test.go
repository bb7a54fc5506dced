package contract_test

import (
	"encoding/json"
	"fmt"
	"maps"
	"net/url"
	"regexp"
	"slices"
	"strings"

	"github.com/getkin/kin-openapi/openapi3"
	"pgregory.net/rapid"

	"gatehouse/domain"
)

// sent is a request before it is one.
type sent struct {
	target string // path and query
	header map[string]string
	body   []byte
}

// requests generates requests for an operation: half of them as the contract has
// them, the others with one thing wrong, or more.
func requests(op *operation, w *world) *rapid.Generator[sent] {
	return rapid.Custom(func(t *rapid.T) sent {
		g := &generator{t: t, world: w, wild: rapid.Bool().Draw(t, "wild")}
		q := sent{target: g.path(op.template), header: map[string]string{}}
		query := url.Values{}
		for _, p := range slices.Concat(op.item.Parameters, op.spec.Parameters) {
			switch p := p.Value; p.In {
			case openapi3.ParameterInQuery:
				if p.Required || g.chance(3) {
					query.Set(p.Name, g.text(g.value(p.Name, p.Schema.Value, 0)))
				}
			case openapi3.ParameterInHeader:
				if g.chance(3) {
					q.header[p.Name] = g.pick("header", `"x"`, "*", `W/"1"`, `"1"`, "1", `"a", "b"`)
				}
			}
		}
		if g.spoil() {
			query.Set(g.pick("parameter", "cursor", "limit", "unknown", "before"), g.junk())
		}
		if len(query) > 0 {
			q.target += "?" + query.Encode()
		}
		if op.spec.RequestBody != nil {
			q.body = g.body(op.spec.RequestBody.Value, q.header)
		}
		return q
	})
}

// generator draws the parts of one request.
type generator struct {
	t     *rapid.T
	world *world
	wild  bool // things may be wrong
}

// chance is true once in n times.
func (g *generator) chance(n int) bool { return rapid.IntRange(1, n).Draw(g.t, "chance") == n }

// spoil is true now and then in a wild request.
func (g *generator) spoil() bool { return g.wild && g.chance(6) }

func (g *generator) pick(what string, choices ...string) string {
	return rapid.SampledFrom(choices).Draw(g.t, what)
}

var placeholder = regexp.MustCompile(`\{([^}]+)\}`)

func (g *generator) path(template string) string {
	return placeholder.ReplaceAllStringFunc(template, func(name string) string {
		if g.spoil() {
			return url.PathEscape(g.pick("segment", "x", "%", "a/b", "\x00", "..", "é", "0", "-1", "99999999999999999999", domain.NewID()))
		}
		return url.PathEscape(g.world.id(g, strings.Trim(name, "{}")))
	})
}

func (g *generator) body(b *openapi3.RequestBody, header map[string]string) []byte {
	media := b.Content.Get("application/json")
	if media == nil {
		header["Content-Type"] = g.pick("media type", "text/plain", "image/png", "application/octet-stream")
		return rapid.SliceOfN(rapid.Byte(), 0, 100).Draw(g.t, "bytes")
	}
	header["Content-Type"] = "application/json"
	if !b.Required && g.chance(3) {
		return nil
	}
	v := g.value("", media.Schema.Value, 0)
	if g.spoil() {
		v = g.mutate(v)
	}
	text, err := json.Marshal(v)
	if err != nil {
		panic(err) // all of it is plain values
	}
	if g.spoil() {
		text = g.corrupt(text, header)
	}
	return text
}

// value is one that the schema of a member allows.
func (g *generator) value(name string, s *openapi3.Schema, depth int) any {
	switch {
	case g.spoil():
		return g.oddity()
	case s.Nullable && g.chance(4):
		return nil
	case len(s.AllOf) > 0:
		return g.value(name, s.AllOf[0].Value, depth)
	case len(s.Enum) > 0:
		return rapid.SampledFrom(s.Enum).Draw(g.t, name)
	case s.Type.Is("object"):
		return g.object(s, depth)
	case s.Type.Is("array"):
		return g.array(name, s, depth)
	case s.Type.Is("boolean"):
		return rapid.Bool().Draw(g.t, name)
	case s.Type.Is("integer"), s.Type.Is("number"):
		return g.integer(name, s)
	case s.Format == "date-time":
		return g.pick(name, "2026-12-01T00:00:00Z", "2036-01-01T12:34:56.123456Z", "2026-12-01T01:00:00+01:00")
	}
	return g.words(name, s)
}

func (g *generator) object(s *openapi3.Schema, depth int) any {
	o := map[string]any{}
	for _, name := range slices.Sorted(maps.Keys(s.Properties)) {
		if slices.Contains(s.Required, name) || name == "content" || g.chance(3) {
			o[name] = g.value(name, s.Properties[name].Value, depth+1)
		}
	}
	if len(s.Properties) == 0 && g.chance(2) { // free, as metadata is
		o[g.pick("key", "a", "b", "é", "status", "client_message_id")] = g.oddity()
	}
	return o
}

func (g *generator) array(name string, s *openapi3.Schema, depth int) any {
	list := []any{}
	if strings.HasSuffix(name, "_ids") || strings.HasSuffix(name, "_refs") && !g.chance(4) {
		return list // what they name has to exist
	}
	for range rapid.IntRange(int(s.MinItems), int(s.MinItems)+3).Draw(g.t, name) {
		list = append(list, g.value(strings.TrimSuffix(name, "s"), s.Items.Value, depth+1))
	}
	return list
}

func (g *generator) integer(name string, s *openapi3.Schema) any {
	least, most := int64(0), int64(3)
	if s.Min != nil {
		least = int64(*s.Min)
	}
	if s.Max != nil {
		most = int64(*s.Max)
	}
	n := rapid.Int64Range(least, max(least, most)).Draw(g.t, name)
	if name == "anchor_to" {
		n += 10
	}
	return n
}

// words is a text for a member: what its name asks for where the world has it.
func (g *generator) words(name string, s *openapi3.Schema) any {
	if id := g.world.id(g, name); id != "" {
		return id
	}
	switch {
	case s.Format == "uuid", name == "id":
		return domain.NewID()
	case strings.HasPrefix(name, "client_"):
		return g.pick(name, "a", "b", "c:1", "d.2", domain.NewID())
	}
	return g.pick(name, "a", "go on", "line\r\nline\n", "héllo \U0001F600 \u202e", " x ", strings.Repeat("long ", 30))
}

// oddity is a value that hardly any schema allows.
func (g *generator) oddity() any {
	return rapid.SampledFrom([]any{
		nil, true, 0, -1, 1.5, 1e300, json.Number("9223372036854775808"), "", " ", "a\x00b", "\u2028", strings.Repeat("x", 70_000),
		[]any{},
		[]any{nil},
		map[string]any{},
		map[string]any{"": map[string]any{"constructor": 1}},
		"../..", "' OR 1=1 --",
	}).Draw(g.t, "oddity")
}

func (g *generator) junk() string {
	return g.pick("junk", "", "0", "-1", "x", "1e3", "9223372036854775808", "\x00", "é", "AAAA", "null", "%00")
}

// mutate takes a member away, adds one, or puts another value in its place.
func (g *generator) mutate(v any) any {
	o, ok := v.(map[string]any)
	if !ok || len(o) == 0 {
		return g.oddity()
	}
	name := rapid.SampledFrom(slices.Sorted(maps.Keys(o))).Draw(g.t, "member")
	switch rapid.IntRange(0, 3).Draw(g.t, "mutation") {
	case 0:
		delete(o, name)
	case 1:
		o[g.pick("unknown", "unknown", "ID", "é", "a b", "__proto__")] = g.oddity()
	case 2:
		o[name] = g.oddity()
	default:
		o[name] = g.mutate(o[name])
	}
	return o
}

// corrupt makes JSON something else, or its headers wrong.
func (g *generator) corrupt(text []byte, header map[string]string) []byte {
	switch rapid.IntRange(0, 7).Draw(g.t, "corruption") {
	case 0:
		return text[:rapid.IntRange(0, len(text)).Draw(g.t, "cut")]
	case 1:
		return append(text, g.pick("tail", "{}", "x", "]", "\x00")...)
	case 2:
		return append([]byte(`{"id":1,"id":2,`), text[min(1, len(text)):]...)
	case 3:
		return append([]byte(`{"title":"`+"\xff"+`\ud800",`), text[min(1, len(text)):]...)
	case 4:
		return []byte(strings.Repeat("[", 100) + strings.Repeat("]", 100))
	case 5:
		header["Content-Type"] = g.pick("media type", "text/plain", "application/xml", "application/json; charset=latin1", "x")
	case 6:
		header["Content-Encoding"] = g.pick("encoding", "gzip", "br", "identity", "x")
	default:
		return rapid.SliceOfN(rapid.Byte(), 0, 50).Draw(g.t, "bytes")
	}
	return text
}

// text is a value as a query has it.
func (g *generator) text(v any) string {
	if s, ok := v.(string); ok {
		return s
	}
	return fmt.Sprint(v)
}
