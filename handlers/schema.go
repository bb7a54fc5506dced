package handlers

import (
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"regexp"
	"slices"
	"strings"

	"github.com/getkin/kin-openapi/openapi3"
)

// schema is a schema of the contract, made ready to judge what is sent. Only
// what [judge] knows is compiled: a contract that says more is refused when the
// server is built, not quietly ignored.
type schema struct {
	kind       string // type; "" is any value
	nullable   bool
	properties map[string]*schema
	required   []string
	others     *schema // of members that are no property; nil where there may be none
	items      *schema
	minItems   int
	maxItems   int
	enum       []string
	pattern    *regexp.Regexp
	format     string
	minLength  int // code points
	maxLength  int
	minimum    float64
	maximum    float64
}

var anything = &schema{nullable: true}

// keywords lists what compile understands, and what does not restrict a value.
var keywords = strings.Fields(`type nullable properties required additionalProperties items minItems maxItems
	enum pattern format minLength maxLength minimum maximum allOf
	title description default example deprecated`)

var formats = []string{"", "uuid", "date-time", "int32", "int64", "double"}

// judgedAlone marks a schema whose values the domain judges, each by itself: what is
// wrong with one is no problem of the request. So [judge] takes any value there, while
// clients and people still read in the contract what it should be. What holds of a
// whole body (API-2: UTF-8, duplicate members, nesting, size) holds inside it too.
const judgedAlone = "x-gatehouse-judged-alone"

// compiler compiles each schema once, also one that holds itself.
type compiler map[*openapi3.Schema]*schema

func (c compiler) compile(ref *openapi3.SchemaRef) (*schema, error) {
	if ref == nil {
		return anything, nil
	}
	in := ref.Value
	if in.Extensions[judgedAlone] == true {
		return anything, nil
	}
	if out := c[in]; out != nil {
		return out, nil
	}
	if err := checkKeywords(in); err != nil {
		return nil, err
	}
	out := &schema{nullable: in.Nullable}
	c[in] = out
	if len(in.AllOf) > 0 {
		return out, c.extend(out, in)
	}
	if in.Type == nil || len(*in.Type) == 0 {
		*out = *anything
		return out, nil
	}
	out.kind = (*in.Type)[0]
	if err := errors.Join(out.setScalar(in), c.setObject(out, in), c.setArray(out, in)); err != nil {
		return nil, err
	}
	return out, nil
}

func checkKeywords(in *openapi3.Schema) error {
	text, err := in.MarshalJSON()
	if err != nil {
		return fmt.Errorf("read schema: %w", err)
	}
	var members map[string]json.RawMessage
	if err := json.Unmarshal(text, &members); err != nil {
		return fmt.Errorf("read schema: %w", err)
	}
	for name := range members {
		if !slices.Contains(keywords, name) && !strings.HasPrefix(name, "x-") {
			return fmt.Errorf("schema keyword %s is not enforced by this server", name)
		}
	}
	if !slices.Contains(formats, in.Format) {
		return fmt.Errorf("format %s is not enforced by this server", in.Format)
	}
	return nil
}

// extend makes out the one schema in allOf, which is how OpenAPI 3.0 adds a
// description, or null, to a schema that is referred to.
func (c compiler) extend(out *schema, in *openapi3.Schema) error {
	if len(in.AllOf) != 1 || len(in.Properties) > 0 || len(in.Enum) > 0 {
		return errors.New("allOf of more than one schema is not enforced by this server")
	}
	base, err := c.compile(in.AllOf[0])
	if err != nil {
		return err
	}
	nullable := in.Nullable || base.nullable
	*out = *base
	out.nullable = nullable
	return nil
}

func (s *schema) setScalar(in *openapi3.Schema) error {
	s.format, s.minLength, s.maxLength = in.Format, bound(&in.MinLength), bound(in.MaxLength)
	s.minimum, s.maximum = math.Inf(-1), math.Inf(1)
	if in.Min != nil {
		s.minimum = *in.Min
	}
	if in.Max != nil {
		s.maximum = *in.Max
	}
	for _, value := range in.Enum {
		text, ok := value.(string)
		if !ok && value != nil {
			return errors.New("an enum of other values than strings is not enforced by this server")
		}
		if ok {
			s.enum = append(s.enum, text)
		}
	}
	if in.Pattern == "" {
		return nil
	}
	var err error
	if s.pattern, err = regexp.Compile(in.Pattern); err != nil {
		return fmt.Errorf("pattern: %w", err)
	}
	return nil
}

func (c compiler) setObject(out *schema, in *openapi3.Schema) (err error) {
	if out.kind != openapi3.TypeObject {
		return nil
	}
	out.required = in.Required
	out.properties = make(map[string]*schema, len(in.Properties))
	for name, ref := range in.Properties {
		if out.properties[name], err = c.compile(ref); err != nil {
			return fmt.Errorf("%s: %w", name, err)
		}
	}
	switch more := in.AdditionalProperties; {
	case more.Schema != nil:
		out.others, err = c.compile(more.Schema)
	case more.Has == nil:
		err = errors.New("an object that is sent must say whether it takes additionalProperties")
	case *more.Has:
		out.others = anything
	}
	return err
}

func (c compiler) setArray(out *schema, in *openapi3.Schema) (err error) {
	if out.kind != openapi3.TypeArray {
		return nil
	}
	out.minItems, out.maxItems = bound(&in.MinItems), bound(in.MaxItems)
	out.items, err = c.compile(in.Items)
	return err
}

func bound(limit *uint64) int {
	if limit == nil || *limit > math.MaxInt {
		return math.MaxInt
	}
	return int(*limit)
}
