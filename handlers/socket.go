package handlers

import (
	"context"
	"encoding/base64"
	"errors"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/coder/websocket"
	"github.com/prometheus/client_golang/prometheus"

	"gatehouse/domain"
	"gatehouse/domain/feed"
	"gatehouse/gen"
)

// How a WebSocket treats its connection, beside what it shares with a stream of events.
const (
	authTimeout    = 5 * time.Second // for the first message, which brings the token (EV)
	partingTimeout = time.Second     // for the client to say goodbye too
	maxUnknown     = 1024            // connections that nobody has authenticated yet, at one server
	unknownMessage = 4 << 10         // bytes of their messages
	envelope       = 1 << 10         // bytes of a message around the body that it brings
)

// Failures of the upgrade.
var (
	errNoUpgrade     = errMalformed.With("This path speaks WebSocket, version 13: ask for the upgrade with GET over HTTP/1.1.")
	errSocketOrigin  = &domain.Error{Kind: domain.KindForbidden, Code: errCrossOrigin.Code, Detail: "Pages of this origin may not connect; cors-origins lists those that may."}
	errTooManyOpen   = &domain.Error{Kind: domain.KindRateLimited, Code: errRateLimited.Code, Detail: "Too many connections wait for their first message; try again."}
	errTooManyOwn    = &domain.Error{Kind: domain.KindRateLimited, Code: errRateLimited.Code, Detail: "The token has too many connections open; close one of them."}
	errSocketMessage = errMalformed.With("A message is one JSON object {id, action, payload} of at most the size of a body, with an action of the contract.")
)

// Sockets serves the WebSocket. What a message asks for is done as the request of
// REST of the same meaning, by the same server: its rights, its judge, its limits and its
// answers are the operation's own, and there is no second set of them. [New] gives it
// that server.
type Sockets struct {
	limit int // connections, and apart from those subscriptions, that a token may have; 0 is no limit
	gauge prometheus.Gauge
	times socketTimes

	rest    http.Handler
	actions map[string]*socketAction
	message *schema
	largest int64
	tokens  Authenticator // nil where authentication is off
	origins Origins

	life context.Context //nolint:containedctx // of the server: connections outlive their requests
	end  context.CancelFunc

	mu      sync.Mutex
	running sync.WaitGroup
	unknown int
	own     map[string]int // connections by token
}

// socketTimes is how long a connection may take for something, or how often.
type socketTimes struct{ auth, write, heartbeat time.Duration }

// NewSockets returns Sockets that take at most limit connections of a token.
func NewSockets(limit int, registry prometheus.Registerer) (*Sockets, error) {
	s := &Sockets{
		limit: limit, own: map[string]int{}, times: socketTimes{authTimeout, writeTimeout, heartbeatEvery},
		gauge: prometheus.NewGauge(prometheus.GaugeOpts{
			Name: "gatehouse_websocket_connections",
			Help: "WebSockets that are open.",
		}),
	}
	s.life, s.end = context.WithCancel(context.Background())
	return s, register(registry, "WebSockets", s.gauge)
}

// serveBy makes rest the server of what messages ask for.
func (s *Sockets) serveBy(rest http.Handler, ops operations, o Options) (err error) {
	s.rest, s.tokens, s.origins, s.largest = rest, o.Authenticator, o.Origins, o.Bodies.JSON+envelope
	form := o.Contract.Components.Schemas["SocketRequest"]
	if form == nil {
		return errors.New("the contract does not say what a message of a WebSocket is")
	}
	if s.message, err = (compiler{}).compile(form); err != nil {
		return fmt.Errorf("messages of WebSockets: %w", err)
	}
	s.actions, err = newSocketActions(ops)
	return err
}

// Close closes every connection at once (EV-8) and takes no more.
func (s *Sockets) Close() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.end()
}

// Wait returns when what connections had begun has ended, after Close.
func (s *Sockets) Wait() { s.running.Wait() }

// OpenSocket implements GET /v1/ws.
func (a *API) OpenSocket(ctx context.Context, _ gen.OpenSocketRequestObject) (gen.OpenSocketResponseObject, error) {
	if a.Sockets == nil {
		return nil, errNotFound
	}
	r := requestOf(ctx).http
	if err := a.Sockets.admits(r); err != nil {
		return nil, err
	}
	return served{http.HandlerFunc(a.Sockets.serve), r}, nil
}

// VisitOpenSocketResponse implements gen.OpenSocketResponseObject.
func (s served) VisitOpenSocketResponse(w http.ResponseWriter) error { return s.write(w) }

// admits is what is wrong with an upgrade. An origin is judged here: browsers let every
// page open a WebSocket, whatever CORS says.
func (s *Sockets) admits(r *http.Request) error {
	if !upgrades(r) {
		return errNoUpgrade
	}
	if isCrossOrigin(r) && !slices.Contains(s.origins.Allowed, r.Header.Get("Origin")) {
		return errSocketOrigin
	}
	return s.enter()
}

// upgrades reports whether r asks for a WebSocket, in a form that the library takes.
func upgrades(r *http.Request) bool {
	has := func(name, token string) bool {
		return slices.ContainsFunc(strings.Split(strings.Join(r.Header.Values(name), ","), ","), func(part string) bool {
			return strings.EqualFold(strings.TrimSpace(part), token)
		})
	}
	keys := r.Header.Values("Sec-WebSocket-Key")
	if len(keys) != 1 {
		return false
	}
	key, err := base64.StdEncoding.DecodeString(strings.TrimSpace(keys[0]))
	return err == nil && len(key) == 16 && r.ProtoMajor == 1 && r.ProtoAtLeast(1, 1) &&
		has("Connection", "upgrade") && has("Upgrade", "websocket") && has("Sec-WebSocket-Version", "13")
}

// enter counts a connection whose caller is not known yet.
func (s *Sockets) enter() error {
	s.mu.Lock()
	defer s.mu.Unlock()
	switch {
	case s.life.Err() != nil:
		return feed.ErrEnded
	case s.unknown >= maxUnknown:
		return errTooManyOpen
	}
	s.unknown++
	s.running.Add(1)
	return nil
}

// known counts it for a token from now on.
func (s *Sockets) known(tokenID string) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.limit > 0 && s.own[tokenID] >= s.limit {
		return errTooManyOwn
	}
	s.unknown--
	s.own[tokenID]++
	return nil
}

// leave counts it no more.
func (s *Sockets) leave(known bool, tokenID string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	defer s.running.Done()
	if !known {
		s.unknown--
		return
	}
	if s.own[tokenID]--; s.own[tokenID] == 0 {
		delete(s.own, tokenID)
	}
}

// serve makes a WebSocket of the connection of an upgrade that was admitted, and serves it
// until it ends.
func (s *Sockets) serve(w http.ResponseWriter, r *http.Request) {
	c := &socket{server: s, opened: r, subscriptions: map[string]*subscription{}}
	defer func() { s.leave(c.known, c.caller.TokenID) }()
	answer := &pacing{ResponseWriter: w, timeout: s.times.write, over: c.over}
	conn, err := websocket.Accept(answer, r, &websocket.AcceptOptions{InsecureSkipVerify: true}) // see admits
	if err != nil {
		return // the client is gone
	}
	c.conn, c.below = conn, answer.conn
	s.gauge.Inc()
	defer s.gauge.Dec()
	c.run(s.life)
}
