package domain_test

import (
	"bytes"
	"encoding/json"
	"io"
	"reflect"
	"strings"
	"testing"
	"unicode/utf8"

	"gatehouse/domain"
)

// parseSeeds are values of every form, sound and not.
var parseSeeds = []string{
	`{"a":[1,-2.5e+3,0,{"b":null}],"c":true,"d":false,"a":"last"}`, " [ ] ", `{}`, `""`, "\t\r\n7 ", `-0`, `1E-7`,
	`"\u00e9\ud83d\ude00\/\b\f\n\r\t\"\\"`, `"\ud83d"`, `"\ud83d\u0041"`, `"\ude00\ud83d"`, `"\ud83d\ud83d\ude00"`, `"\u0000"`, `"\uFFFD"`,
	``, ` `, `{`, `[1,]`, `[,1]`, `[1 2]`, `{"a"}`, `{"a":}`, `{"a":1,}`, `{,}`, `{1:2}`, `"`, `"\`, `"\u12`, `"\u12g4"`, `"\x"`, "\"\n\"", "\x00", "{}\x00",
	`01`, `-`, `1.`, `.5`, `1e`, `1e+`, `+1`, `tru`, `truex`, `nul`, `NaN`, `{} {}`, `1 2`, "\"\xff\"",
	strings.Repeat("[", 10_000) + strings.Repeat("]", 10_000), strings.Repeat("[", 10_001) + strings.Repeat("]", 10_001),
}

// ParseJSON reads what the standard library reads, and as that reads it.
func FuzzParseJSON(f *testing.F) {
	for _, seed := range parseSeeds {
		f.Add([]byte(seed))
	}
	f.Fuzz(func(t *testing.T, raw []byte) {
		want, isJSON := parseStandard(raw)
		got, err := domain.ParseJSON(raw)
		if (err == nil) != isJSON {
			t.Fatalf("%.200q: %v, want JSON %t", raw, err, isJSON)
		}
		if isJSON && !reflect.DeepEqual(got, want) { // cmp is slow on deep values
			t.Errorf("%.200q is %.200v, want %.200v", raw, got, want)
		}
	})
}

func parseStandard(raw []byte) (v any, ok bool) {
	dec := json.NewDecoder(bytes.NewReader(raw))
	dec.UseNumber()
	if !utf8.Valid(raw) || dec.Decode(&v) != nil {
		return nil, false
	}
	_, err := dec.Token()
	return v, err == io.EOF
}
