package handlers

import (
	"bytes"
	"errors"
	"io"
	"regexp"
	"slices"

	"github.com/getkin/kin-openapi/openapi3"
	"github.com/go-json-experiment/json/jsontext"

	"gatehouse/domain"
)

// judge reads a body once and notes where it differs from a schema. The reader
// below it refuses duplicate members, invalid UTF-8 and unpaired surrogates
// wherever they stand; whatever is no JSON is [errMalformed], without words of
// the parser, which hold submitted text.
type judge struct {
	findings

	in *jsontext.Decoder
}

// judgeJSON returns the problems of data, which should be one JSON value, or
// [errMalformed].
func judgeJSON(data []byte, s *schema) (domain.Problems, error) {
	j := &judge{findings{at: []step{{name: "body"}}}, jsontext.NewDecoder(bytes.NewBuffer(data))}
	if err := j.value(s); err != nil {
		return nil, err
	}
	if _, err := j.in.ReadToken(); !errors.Is(err, io.EOF) {
		return nil, errMalformed
	}
	return j.problems, nil
}

func (j *judge) value(s *schema) error {
	switch kind := j.in.PeekKind(); {
	case kind == jsontext.KindBeginObject && s.kind == openapi3.TypeObject:
		return j.object(s)
	case kind == jsontext.KindBeginArray && s.kind == openapi3.TypeArray:
		return j.array(s)
	case kind == jsontext.KindBeginObject, kind == jsontext.KindBeginArray:
		if s.kind != "" {
			j.wrongType(s)
		}
		return j.skip()
	default:
		return j.scalar(s)
	}
}

func (j *judge) scalar(s *schema) error {
	token, err := j.read()
	if err != nil {
		return err
	}
	switch kind := token.Kind(); {
	case kind == jsontext.KindNull:
		if !s.nullable {
			j.add(domain.ProblemType, "must not be null")
		}
	case s.kind == "":
	case kind == jsontext.KindString && s.kind == openapi3.TypeString:
		if s.judgesText() {
			j.text(s, token.String())
		}
	case kind == jsontext.KindNumber && (s.kind == openapi3.TypeInteger || s.kind == openapi3.TypeNumber):
		j.number(s, token.String())
	case (kind == jsontext.KindTrue || kind == jsontext.KindFalse) && s.kind == openapi3.TypeBoolean:
	default:
		j.wrongType(s)
	}
	return nil
}

// publicName is what an unknown member's name must look like to be repeated (API-2).
var publicName = regexp.MustCompile(`^[A-Za-z0-9_]{1,64}$`)

func (j *judge) object(s *schema) error {
	if _, err := j.read(); err != nil {
		return err
	}
	missing := slices.Clone(s.required)
	for j.in.PeekKind() != jsontext.KindEndObject {
		token, err := j.read()
		if err != nil {
			return err
		}
		name := token.String()
		if i := slices.Index(missing, name); i >= 0 {
			missing = slices.Delete(missing, i, i+1)
		}
		if err := j.member(s, name); err != nil {
			return err
		}
	}
	for _, name := range missing {
		j.addAt(step{name: name}, domain.ProblemRequired, "is missing")
	}
	_, err := j.read()
	return err
}

func (j *judge) member(s *schema, name string) error {
	known, below := s.properties[name], step{name: name}
	if known == nil {
		known, below.secret = s.others, !publicName.MatchString(name)
	}
	if known == nil {
		j.addAt(below, domain.ProblemUnknown, "is not known here")
		return j.skip()
	}
	return j.below(below, known)
}

func (j *judge) array(s *schema) error {
	if _, err := j.read(); err != nil {
		return err
	}
	n := 0
	for ; j.in.PeekKind() != jsontext.KindEndArray; n++ {
		if err := j.below(step{index: n}, s.items); err != nil {
			return err
		}
	}
	if n < s.minItems {
		j.add(domain.ProblemRange, "must have at least %d items", s.minItems)
	}
	if n > s.maxItems {
		j.add(domain.ProblemTooMany, "must have at most %d items", s.maxItems)
	}
	_, err := j.read()
	return err
}

func (j *judge) below(at step, s *schema) error {
	j.at = append(j.at, at)
	err := j.value(s)
	j.at = j.at[:len(j.at)-1]
	return err
}

// skip reads one value of any form.
func (j *judge) skip() error {
	for depth := j.in.StackDepth(); ; {
		if _, err := j.read(); err != nil {
			return err
		}
		if j.in.StackDepth() == depth {
			return nil
		}
	}
}

func (j *judge) read() (jsontext.Token, error) {
	token, err := j.in.ReadToken()
	if err != nil || j.in.StackDepth() > domain.MaxJSONDepth {
		return jsontext.Token{}, errMalformed
	}
	return token, nil
}
