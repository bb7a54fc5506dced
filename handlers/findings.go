package handlers

import (
	"math"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/getkin/kin-openapi/openapi3"

	"gatehouse/domain"
)

// step is one step of the way to a value.
type step struct {
	name   string // of a member, or
	index  int    // of an item, where name is ""
	secret bool   // the name came from the caller and is not fit to be repeated
}

// findings notes problems with the values of a request. Their messages are made
// of the contract alone: nothing that was submitted is in them (API-2).
type findings struct {
	at       []step // where the value is that is judged
	problems domain.Problems
}

func (f *findings) add(code, format string, args ...any) {
	if len(f.problems) < domain.MaxProblems { // or their pointers would be made for nothing
		f.problems.Add(pointer(f.at), code, format, args...)
	}
}

func (f *findings) addAt(below step, code, format string, args ...any) {
	f.at = append(f.at, below)
	f.add(code, format, args...)
	f.at = f.at[:len(f.at)-1]
}

var pointerEscapes = strings.NewReplacer("~", "~0", "/", "~1")

// pointer returns the JSON pointer of a way, up to the first step that may not
// be shown.
func pointer(way []step) string {
	var p strings.Builder
	for _, s := range way {
		switch {
		case s.secret:
			return p.String()
		case s.name == "":
			p.WriteString("/" + strconv.Itoa(s.index))
		default:
			p.WriteString("/" + pointerEscapes.Replace(s.name))
		}
	}
	return p.String()
}

var withArticle = map[string]string{
	openapi3.TypeObject:  "an object",
	openapi3.TypeArray:   "an array",
	openapi3.TypeString:  "a string",
	openapi3.TypeInteger: "an integer",
	openapi3.TypeNumber:  "a number",
	openapi3.TypeBoolean: "true or false",
}

func (f *findings) wrongType(s *schema) {
	f.add(domain.ProblemType, "must be %s", withArticle[s.kind])
}

// judgesText reports whether text asks more of a string than to be one.
func (s *schema) judgesText() bool {
	return s.format != "" || s.enum != nil || s.pattern != nil || s.minLength > 0 || s.maxLength < math.MaxInt
}

func (f *findings) text(s *schema, text string) {
	if s.enum != nil && !slices.Contains(s.enum, text) {
		f.add(domain.ProblemEnum, "must be one of %s", strings.Join(s.enum, ", "))
	}
	if s.pattern != nil && !s.pattern.MatchString(text) {
		f.add(domain.ProblemFormat, "must match %s", s.pattern)
	}
	if n := utf8.RuneCountInString(text); n < s.minLength {
		f.add(domain.ProblemRange, "must have at least %d characters", s.minLength)
	} else if n > s.maxLength {
		f.add(domain.ProblemTooLong, "must have at most %d characters", s.maxLength)
	}
	switch s.format {
	case "uuid":
		if _, ok := domain.ParseID(text); !ok {
			f.add(domain.ProblemFormat, "must be a UUID: 8-4-4-4-12 hexadecimal digits")
		}
	case "date-time":
		if new(time.Time).UnmarshalText([]byte(text)) != nil {
			f.add(domain.ProblemFormat, "must be a time as RFC 3339 writes it")
		}
	}
}

// plainInteger is how an integer must be written: what has a fraction or an
// exponent, though it may be whole, is not read exactly by everybody.
var plainInteger = regexp.MustCompile(`^-?(0|[1-9][0-9]*)$`)

func (f *findings) number(s *schema, literal string) {
	value, err := strconv.ParseFloat(literal, 64)
	if s.kind == openapi3.TypeInteger {
		if !plainInteger.MatchString(literal) {
			f.add(domain.ProblemType, "must be an integer, written without fraction and exponent")
			return
		}
		bits := 64
		if s.format == "int32" {
			bits = 32
		}
		_, err = strconv.ParseInt(literal, 10, bits)
	}
	switch {
	case err != nil:
		f.add(domain.ProblemRange, "is out of range")
	case value < s.minimum:
		f.add(domain.ProblemRange, "must be at least %g", s.minimum)
	case value > s.maximum:
		f.add(domain.ProblemRange, "must be at most %g", s.maximum)
	}
}
