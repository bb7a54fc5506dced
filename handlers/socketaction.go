package handlers

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"maps"
	"net/http"
	"net/url"
	"strings"

	"github.com/labstack/echo/v4"

	"gatehouse/domain"
)

// The actions of a WebSocket that are no operation.
const (
	actionAuth        = "auth"
	actionSubscribe   = "task.subscribe"
	actionUnsubscribe = "task.unsubscribe"
)

// socketOperations are the operations behind the other actions, and members of their
// payload that are headers there. A member that is a parameter of the path is that; of
// what is left, the body is made where there is one, and the query otherwise.
var socketOperations = map[string]struct {
	operation string
	headers   map[string]string
}{
	"task.plan.comments.list":   {operation: "listPlanComments"},
	"task.plan.comments.create": {operation: "createPlanComment"},
	"task.plan.comments.update": {operation: "updatePlanComment"},
	"task.plan.comments.delete": {operation: "deletePlanComment"},
	actionSubscribe:             {operation: "streamEvents", headers: map[string]string{"last_seq": "Last-Event-ID"}},
}

// socketAction is an action as a request of REST.
type socketAction struct {
	method  string
	route   string // template
	headers map[string]string
	bodied  bool
}

func newSocketActions(ops operations) (map[string]*socketAction, error) {
	actions := map[string]*socketAction{}
	for name, of := range socketOperations {
		for key, op := range ops {
			if op.id == of.operation {
				method, _, _ := strings.Cut(key, " ")
				actions[name] = &socketAction{method, op.route, of.headers, op.body != nil}
			}
		}
		if actions[name] == nil {
			return nil, fmt.Errorf("action %s: there is no operation %s", name, of.operation)
		}
	}
	return actions, nil
}

// request makes the request of REST that a payload means.
func (a *socketAction) request(ctx context.Context, payload map[string]json.RawMessage) (*http.Request, error) {
	rest := maps.Clone(payload)
	path, err := a.path(rest)
	if err != nil {
		return nil, err
	}
	header := http.Header{}
	for member, name := range a.headers {
		if value, there := rest[member]; there && string(value) != "null" {
			header.Set(name, plainText(value))
		}
		delete(rest, member)
	}
	var body io.Reader
	if a.bodied {
		data, err := json.Marshal(rest)
		if err != nil {
			return nil, fmt.Errorf("body of a message: %w", err)
		}
		body = bytes.NewReader(data)
		header.Set(echo.HeaderContentType, echo.MIMEApplicationJSON)
	} else if query := queryOf(rest); query != "" {
		path += "?" + query
	}
	r, err := http.NewRequestWithContext(ctx, a.method, path, body)
	if err != nil {
		return nil, fmt.Errorf("request of a message: %w", err)
	}
	r.Header = header
	return r, nil
}

// path fills the template in, from members that it takes out.
func (a *socketAction) path(members map[string]json.RawMessage) (string, error) {
	var wrong domain.Problems
	path := pathParameter.ReplaceAllStringFunc(a.route, func(parameter string) string {
		name := strings.Trim(parameter, "{}")
		value, there := members[name]
		delete(members, name)
		var id string
		if !there {
			wrong.Add("/body/"+name, domain.ProblemRequired, "is missing")
		} else if json.Unmarshal(value, &id) != nil || string(value) == "null" {
			wrong.Add("/body/"+name, domain.ProblemType, "must be a string")
		}
		if id == "" {
			id = "-" // is no id, and no other path either
		}
		return url.PathEscape(id)
	})
	return path, wrong.Err()
}

func queryOf(members map[string]json.RawMessage) string {
	query := url.Values{}
	for name, value := range members {
		query.Set(name, plainText(value))
	}
	return query.Encode()
}

// plainText is a single value of JSON as it stands in a query or a header.
func plainText(value json.RawMessage) string {
	var text string
	if json.Unmarshal(value, &text) == nil && string(value) != "null" {
		return text
	}
	return string(value)
}

// recorded is an answer that nobody reads from a connection.
type recorded struct {
	header http.Header
	status int
	body   bytes.Buffer
}

// Header implements http.ResponseWriter.
func (r *recorded) Header() http.Header { return r.header }

// WriteHeader implements http.ResponseWriter.
func (r *recorded) WriteHeader(status int) { r.status = status }

// Write implements http.ResponseWriter.
func (r *recorded) Write(data []byte) (int, error) { return r.body.Write(data) }

// answer is it as the answer to the request of an id.
func (r *recorded) answer(id string) socketAnswer {
	of := socketResponse
	if r.status >= http.StatusBadRequest {
		of = socketError
	}
	return socketAnswer{id, of, json.RawMessage(bytes.TrimSpace(r.body.Bytes()))}
}
