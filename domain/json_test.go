package domain_test

import (
	"bytes"
	"encoding/json"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"gatehouse/domain"
)

func TestCanonicalJSON(t *testing.T) {
	for name, c := range map[string]struct{ raw, want string }{
		"sorts members by bytes":         {`{"b":1,"a":2,"é":3,"B":4}`, `{"B":4,"a":2,"b":1,"é":3}`},
		"drops space":                    {" { \"a\" : [ 1 , 2 ] } \n", `{"a":[1,2]}`},
		"keeps the order of an array":    {`[3,1,2]`, `[3,1,2]`},
		"keeps integers of any size":     {`[9007199254740993,123456789012345678901234567890]`, `[9007199254740993,123456789012345678901234567890]`},
		"writes floats the shortest way": {`[1.50,1.0,1e2,-2.5E-3,0.1]`, `[1.5,1,100,-0.0025,0.1]`},
		"writes no exponent":             {`1e21`, `1000000000000000000000`},
		"knows one zero":                 {`[0,-0,0.0,-0.0,0e5]`, `[0,0,0,0,0]`},
		"escapes the least":              {`"\u00e9\/\u003c\u2028\u0007\n\"\\"`, "\"é/<\u2028\\u0007\\n\\\"\\\\\""},
		"knows scalars":                  {`[null,true,false,""]`, `[null,true,false,""]`},
	} {
		t.Run(name, func(t *testing.T) {
			got, err := domain.CanonicalJSON([]byte(c.raw))
			if err != nil || string(got) != c.want {
				t.Fatalf("got %s, %v, want %s", got, err, c.want)
			}
			again, err := domain.CanonicalJSON(got)
			if err != nil || !bytes.Equal(again, got) {
				t.Errorf("canonical form of it is %s, %v", again, err)
			}
		})
	}
}

func TestCanonicalJSONRefuses(t *testing.T) {
	for name, raw := range map[string]string{
		"nothing":               ``,
		"half a value":          `{"a":`,
		"two values":            `{}{}`,
		"text after the value":  `{} x`,
		"invalid UTF-8":         "\"\xff\"",
		"U+0000 in a value":     `{"a":"\u0000"}`,
		"U+0000 in a name":      `{"\u0000":1}`,
		"a number too large":    `1e400`,
		"a number that is lost": `1e-400`,
		"nesting":               strings.Repeat("[", domain.MaxJSONDepth+1) + strings.Repeat("]", domain.MaxJSONDepth+1),
	} {
		t.Run(name, func(t *testing.T) {
			if got, err := domain.CanonicalJSON([]byte(raw)); err == nil {
				t.Errorf("got %s, want an error", got)
			}
		})
	}
}

// API-3 and API-24: what metadata may be.
func TestCheckMetadata(t *testing.T) {
	nested := func(depth int) string {
		return strings.Repeat(`{"a":`, depth-1) + `{}` + strings.Repeat(`}`, depth-1)
	}
	sized := func(n int) string { return `{"a":"` + strings.Repeat("x", n-len(`{"a":""}`)) + `"}` }
	for name, c := range map[string]struct {
		raw  string
		want []domain.Problem // without messages
	}{
		"absent":               {"", nil},
		"an object":            {`{"a":1}`, nil},
		"as deep as may be":    {nested(domain.MaxMetadataDepth), nil},
		"too deep":             {nested(domain.MaxMetadataDepth + 1), []domain.Problem{{Field: "/body/m", Code: domain.ProblemRange}}},
		"as large as may be":   {sized(domain.MaxMetadata), nil},
		"space is not counted": {sized(domain.MaxMetadata) + strings.Repeat(" ", 100), nil},
		"too large":            {sized(domain.MaxMetadata + 1), []domain.Problem{{Field: "/body/m", Code: domain.ProblemTooLong}}},
		"no object":            {`[]`, []domain.Problem{{Field: "/body/m", Code: domain.ProblemType}}},
		"null":                 {`null`, []domain.Problem{{Field: "/body/m", Code: domain.ProblemType}}},
		"U+0000":               {`{"a":["\u0000"]}`, []domain.Problem{{Field: "/body/m", Code: domain.ProblemNUL}}},
		"too large when canonical": {
			`{"a":[` + strings.Repeat("1e300,", 300) + `1]}`,
			[]domain.Problem{{Field: "/body/m", Code: domain.ProblemTooLong}},
		},
		"reserved members": {`{"status":1,"a":2,"client_message_id":"x"}`, []domain.Problem{
			{Field: "/body/m/client_message_id", Code: domain.ProblemReserved},
			{Field: "/body/m/status", Code: domain.ProblemReserved},
		}},
		"reserved names further down": {`{"a":{"status":1}}`, nil},
	} {
		t.Run(name, func(t *testing.T) {
			var p domain.Problems
			canonical := domain.CheckMetadata(&p, "/body/m", []byte(c.raw))
			for i := range p {
				p[i].Message = ""
			}
			if diff := cmp.Diff(domain.Problems(c.want), p); diff != "" {
				t.Error(diff)
			}
			if len(p) == 0 && !json.Valid(canonical) {
				t.Errorf("canonical form is %q", canonical)
			}
		})
	}
}

func FuzzCanonicalJSON(f *testing.F) {
	for _, seed := range []string{`{"b":[1,2.5e3],"a":"\u00e9"}`, `-0`, `"\\\""`, `1e-7`} {
		f.Add([]byte(seed))
	}
	f.Fuzz(func(t *testing.T, raw []byte) {
		once, err := domain.CanonicalJSON(raw)
		if err != nil {
			return
		}
		if !json.Valid(once) {
			t.Fatalf("%q became %q, which is not JSON", raw, once)
		}
		twice, err := domain.CanonicalJSON(once)
		if err != nil || !bytes.Equal(once, twice) {
			t.Fatalf("%q became %q, then %q (%v)", raw, once, twice, err)
		}
	})
}
