package process

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"strings"
	"testing"
	"time"
)

// Client calls a server with one token.
type Client struct {
	URL   string
	token string
	http  *http.Client
}

// NewClient makes a client with connections of its own.
func NewClient(url, token string) *Client {
	return &Client{url, token, &http.Client{Transport: &http.Transport{MaxIdleConnsPerHost: 256, ExpectContinueTimeout: time.Minute}}}
}

// With is a client of the same server with another token.
func (c *Client) With(token string) *Client { return &Client{c.URL, token, c.http} }

// Close closes the idle connections.
func (c *Client) Close() { c.http.CloseIdleConnections() }

// Answer is what a server answered, read to its end.
type Answer struct {
	Status int
	Header http.Header
	Body   []byte
}

// Send sends a body, nil for none, as JSON. An error means that there was no whole
// answer.
func (c *Client) Send(ctx context.Context, method, path string, body any) (Answer, error) {
	var content io.Reader = http.NoBody
	if body != nil {
		text, err := json.Marshal(body)
		if err != nil {
			return Answer{}, err
		}
		content = bytes.NewReader(text)
	}
	r, err := http.NewRequestWithContext(ctx, method, c.URL+path, content)
	if err != nil {
		return Answer{}, err
	}
	if body != nil {
		r.Header.Set("Content-Type", "application/json")
	}
	return c.Do(r)
}

// Do sends a request.
func (c *Client) Do(r *http.Request) (Answer, error) {
	if c.token != "" {
		r.Header.Set("Authorization", "Bearer "+c.token)
	}
	response, err := c.http.Do(r) //nolint:gosec // the server of this suite
	if err != nil {
		return Answer{}, err
	}
	defer response.Body.Close()
	read, err := io.ReadAll(response.Body)
	if err != nil {
		return Answer{}, err
	}
	return Answer{response.StatusCode, response.Header, read}, nil
}

// Must sends a body and fails the test unless the answer has that status.
func (c *Client) Must(tb testing.TB, status int, method, path string, body any) Object {
	tb.Helper()
	answer, err := c.Send(tb.Context(), method, path, body)
	if err != nil {
		tb.Fatalf("%s %s: %v", method, path, err)
	}
	if answer.Status != status {
		tb.Fatalf("%s %s: %d %s, want %d", method, path, answer.Status, answer.Body, status)
	}
	if len(answer.Body) == 0 {
		return nil
	}
	return answer.Object()
}

// Object is the answer's JSON object, nil when it is none.
func (a Answer) Object() Object {
	var o Object
	dec := json.NewDecoder(bytes.NewReader(a.Body))
	dec.UseNumber()
	if dec.Decode(&o) != nil {
		return nil
	}
	return o
}

// String describes the answer.
func (a Answer) String() string { return fmt.Sprintf("%d %s", a.Status, a.Body) }

// Object is a JSON object whose members are asked for by dotted paths.
type Object map[string]any

func (o Object) at(path string) any {
	var v any = map[string]any(o)
	for name := range strings.SplitSeq(path, ".") {
		members, _ := v.(map[string]any)
		v = members[name]
	}
	return v
}

// Text is the string at a path, "" where there is none.
func (o Object) Text(path string) string {
	s, _ := o.at(path).(string)
	return s
}

// Int is the integer at a path, 0 where there is none.
func (o Object) Int(path string) int64 {
	n, _ := o.at(path).(json.Number)
	i, _ := n.Int64()
	return i
}

// Items are the objects of the list at a path.
func (o Object) Items(path string) []Object {
	list, _ := o.at(path).([]any)
	items := make([]Object, 0, len(list))
	for _, item := range list {
		object, _ := item.(map[string]any)
		items = append(items, object)
	}
	return items
}
