// Package webhook is the turn-start hook that is asked over HTTP: a POST of JSON,
// signed as Standard Webhooks has it.
package webhook

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"strconv"
	"time"

	"github.com/go-json-experiment/json"
	signing "github.com/standard-webhooks/standard-webhooks/libraries/go"

	"gatehouse/domain"
	"gatehouse/domain/prompt"
)

// Options say whom to ask, and how.
type Options struct {
	URL     string        // of http or https
	Secret  string        // whsec_ and base64; config checks it
	Timeout time.Duration // for the whole of a question
	Clock   domain.Clock
}

// Hook asks a URL before a turn starts. It is safe for concurrent use, and keeps its
// connections.
type Hook struct {
	url     string
	signer  *signing.Webhook
	timeout time.Duration
	now     domain.Clock
	client  *http.Client
}

// maxAnswer is how much of an answer is read, in bytes.
const maxAnswer = 64 << 10

var _ prompt.Hook = (*Hook)(nil)

// New returns a Hook. It connects to nobody yet.
func New(o Options) (*Hook, error) {
	signer, err := signing.NewWebhook(o.Secret)
	if err != nil {
		return nil, errors.New("hook-secret is not base64") // the library repeats a part of it
	}
	return &Hook{o.URL, signer, o.Timeout, o.Clock, newClient()}, nil
}

// newClient talks to the URL it was given and to nobody else: no proxy that the
// environment names, no redirect.
func newClient() *http.Client {
	return &http.Client{
		Transport: &http.Transport{
			Proxy:                  nil,
			ForceAttemptHTTP2:      true,
			DisableCompression:     true, // an answer is as long as it says
			MaxResponseHeaderBytes: maxAnswer,
			MaxIdleConnsPerHost:    16,
			IdleConnTimeout:        90 * time.Second,
		},
		CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
	}
}

// BeforeTurn implements prompt.Hook. A status of 2xx with an empty body, or with an
// object that may name a session, lets the prompt pass; anything else, or no answer in
// time, refuses it. No error holds text of the prompt or of the answer, nor the URL.
func (h *Hook) BeforeTurn(ctx context.Context, turn prompt.TurnStart) (replacement *string, err error) {
	ctx, cancel := context.WithTimeout(ctx, h.timeout)
	defer cancel()
	r, err := h.request(ctx, turn)
	if err != nil {
		return nil, err
	}
	response, err := h.client.Do(r)
	if err != nil {
		return nil, fmt.Errorf("no answer: %w", withoutURL(err))
	}
	defer func() { _ = response.Body.Close() }()
	// Also of an answer that does not count, so that the connection can be used again.
	body, err := io.ReadAll(io.LimitReader(response.Body, maxAnswer+1))
	switch {
	case response.StatusCode < http.StatusOK || response.StatusCode >= http.StatusMultipleChoices:
		return nil, fmt.Errorf("answered with status %d", response.StatusCode)
	case err != nil:
		return nil, fmt.Errorf("no whole answer: %w", err)
	case len(body) > maxAnswer:
		return nil, fmt.Errorf("answered with more than %d bytes", maxAnswer)
	}
	return replacementIn(body)
}

// request is the signed question about a turn.
func (h *Hook) request(ctx context.Context, turn prompt.TurnStart) (*http.Request, error) {
	now := h.now()
	body, err := json.Marshal(message{Type: eventType, Timestamp: now, Data: dataOf(turn)})
	if err != nil {
		return nil, errors.New("the prompt is no JSON") // the cause repeats it
	}
	id := messageID(turn)
	signature, err := h.signer.Sign(id, now, body)
	if err != nil {
		return nil, fmt.Errorf("sign: %w", err)
	}
	r, err := http.NewRequestWithContext(ctx, http.MethodPost, h.url, bytes.NewReader(body))
	if err != nil {
		return nil, fmt.Errorf("no request can be made: %w", withoutURL(err))
	}
	r.Header.Set("Content-Type", "application/json")
	r.Header.Set("User-Agent", "gatehouse")
	r.Header.Set(signing.HeaderWebhookID, id)
	r.Header.Set(signing.HeaderWebhookTimestamp, strconv.FormatInt(now.Unix(), 10))
	r.Header.Set(signing.HeaderWebhookSignature, signature)
	// Not sent. It lets the transport ask again when a connection that it had kept turns
	// out to be closed: a hook may be asked twice.
	r.Header["Idempotency-Key"] = nil
	return r, nil
}

// replacementIn reads the session that an answer puts in the place of the one named.
func replacementIn(body []byte) (*string, error) {
	if len(body) == 0 {
		return nil, nil //nolint:nilnil // the session that was named is right
	}
	var answer *struct {
		SessionID *string `json:"session_id"`
	}
	if json.Unmarshal(body, &answer, json.RejectUnknownMembers(true)) != nil || answer == nil {
		return nil, errors.New("answered with something else than nothing or an object with session_id")
	}
	if answer.SessionID == nil {
		return nil, nil //nolint:nilnil // the same, said at length
	}
	id, ok := domain.ParseID(*answer.SessionID)
	if !ok {
		return nil, errors.New("answered with a session_id that is no UUID")
	}
	return &id, nil
}

// withoutURL is what a client or a request failed of, without the URL: that may hold
// a secret.
func withoutURL(err error) error {
	if e, ok := errors.AsType[*url.Error](err); ok {
		return e.Err
	}
	return err
}
