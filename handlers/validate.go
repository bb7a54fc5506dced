package handlers

import (
	"bytes"
	"errors"
	"fmt"
	"io"

	"github.com/getkin/kin-openapi/openapi3"
	"github.com/labstack/echo/v4"
)

// body is the body that an operation takes.
type body struct {
	required bool
	limit    int64   // bytes
	schema   *schema // nil: any bytes, read by the handler
}

func newOperation(spec *openapi3.Operation, parameters openapi3.Parameters, rule Rule, limits BodyLimits) (*operation, error) {
	c := compiler{}
	op := &operation{id: spec.OperationID, rule: rule}
	var err error
	if op.query, err = c.parameters(openapi3.ParameterInQuery, parameters); err != nil {
		return nil, err
	}
	if op.heads, err = c.parameters(openapi3.ParameterInHeader, parameters); err != nil {
		return nil, err
	}
	if spec.RequestBody == nil {
		return op, nil
	}
	in := spec.RequestBody.Value
	op.body = &body{required: in.Required, limit: limits.Raw}
	json := in.Content[echo.MIMEApplicationJSON]
	if json == nil {
		return op, nil
	}
	if len(in.Content) > 1 {
		return nil, errors.New("JSON beside other media types is not enforced by this server")
	}
	op.body.limit = limits.JSON
	if rule.Ingest {
		op.body.limit = limits.Ingest
	}
	if op.body.schema, err = c.compile(json.Schema); err != nil {
		return nil, fmt.Errorf("body: %w", err)
	}
	return op, nil
}

// validate refuses what the contract does not allow, and tells all of it at once
// (API-2). The handler then reads the body as it was sent, byte for byte, so that
// no number changes on the way. Defaults of the contract are not filled in: absent
// stays absent, and the domain knows what that means.
func validate(next echo.HandlerFunc) echo.HandlerFunc {
	return func(c echo.Context) error {
		r := c.Request()
		op := requestOf(r.Context()).operation
		var f findings
		if err := f.judgeBody(c, op.body); err != nil {
			return err
		}
		if err := f.judgeQuery(r.URL.RawQuery, op.query); err != nil {
			return err
		}
		f.judgeHeader(r.Header, op.heads)
		if err := f.problems.Err(); err != nil {
			return err
		}
		return next(c)
	}
}

func (f *findings) judgeBody(c echo.Context, b *body) (err error) {
	r := c.Request()
	switch {
	case b == nil:
		return nil
	case b.schema == nil:
		r.Body, err = open(c, b.limit)
		return err
	}
	data, err := readJSON(c, b.limit)
	switch {
	case err != nil:
		return err
	case len(data) > 0:
		if f.problems, err = judgeJSON(data, b.schema); err != nil {
			return err
		}
	case b.required:
		return errMalformed
	}
	r.Body, r.ContentLength = io.NopCloser(bytes.NewReader(data)), int64(len(data))
	r.Header.Del(echo.HeaderContentEncoding)
	return nil
}
