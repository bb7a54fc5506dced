package handlers

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net"
	"net/http"
	"sync"
	"sync/atomic"
	"time"

	"github.com/coder/websocket"
	"github.com/labstack/echo/v4"

	"gatehouse/domain"
	"gatehouse/domain/access"
)

// socket is one connection. One goroutine reads it and answers, one request after
// the other; subscriptions write beside it.
type socket struct {
	server *Sockets
	conn   *websocket.Conn
	below  net.Conn
	opened *http.Request // the upgrade

	known  bool // whether there is a caller, who sent token
	token  string
	caller access.Caller

	parting atomic.Bool // whether it is being closed, which may be told

	mu            sync.Mutex
	subscriptions map[string]*subscription // by task
}

// run serves the connection until either side closes it.
func (s *socket) run(life context.Context) {
	ctx, cancel := context.WithCancel(life)
	defer s.leaveAll()
	defer cancel()
	defer func() { _ = s.conn.CloseNow() }()
	defer context.AfterFunc(life, func() { s.close(websocket.StatusGoingAway, "the server ends") })()

	s.conn.SetReadLimit(unknownMessage)
	late := time.AfterFunc(s.server.times.auth, func() { s.close(websocket.StatusPolicyViolation, "no token in time") })
	err := s.meet(context.WithoutCancel(ctx))
	late.Stop()
	if err != nil {
		return
	}
	go s.keep(ctx)
	s.conn.SetReadLimit(s.server.largest)
	for {
		data, err := s.receive(context.WithoutCancel(ctx))
		if err != nil {
			return
		}
		if err := s.handle(ctx, data); err != nil {
			return
		}
	}
}

// receive reads a message. The context never ends: the library would cut the connection
// off instead of closing it.
func (s *socket) receive(ctx context.Context) ([]byte, error) {
	kind, data, err := s.conn.Read(ctx)
	if err != nil {
		return nil, fmt.Errorf("read: %w", err)
	}
	if kind != websocket.MessageText {
		s.close(websocket.StatusUnsupportedData, "messages are text")
		return nil, errClosed
	}
	return data, nil
}

// meet finds out who is there, by the first message (EV). Where authentication is off,
// everybody is known.
func (s *socket) meet(ctx context.Context) error {
	if s.server.tokens == nil {
		s.caller.Scope = access.ScopeAdmin
		return s.count()
	}
	data, err := s.receive(ctx)
	if err != nil {
		return err
	}
	request, err := s.server.read(data)
	if err == nil {
		err = s.authenticate(ctx, request)
	}
	if err == nil {
		err = s.count()
	}
	if err != nil {
		_ = s.fail(ctx, request.ID, err)
		s.close(websocket.StatusPolicyViolation, "not authenticated")
		return errClosed
	}
	return s.send(ctx, socketAnswer{request.ID, socketResponse, struct{}{}})
}

func (s *socket) authenticate(ctx context.Context, r socketRequest) (err error) {
	if err := json.Unmarshal(r.Payload["token"], &s.token); r.Action != actionAuth || err != nil || !bearer.MatchString("Bearer "+s.token) {
		return access.ErrUnauthenticated
	}
	if s.caller, err = s.server.tokens.Authenticate(ctx, s.token); err != nil {
		return fmt.Errorf("authenticate: %w", err)
	}
	return nil
}

func (s *socket) count() error {
	err := s.server.known(s.caller.TokenID)
	s.known = err == nil
	return err
}

// keep keeps the connection open through proxies, and ends it when nobody is there any
// more, or not whoever it was (EV-6).
func (s *socket) keep(ctx context.Context) {
	tick := time.NewTicker(s.server.times.heartbeat)
	defer tick.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case <-tick.C:
		}
		if err := s.ping(ctx); err != nil {
			_ = s.conn.CloseNow()
			return
		}
		if s.server.tokens == nil {
			continue
		}
		if _, err := s.server.tokens.Authenticate(ctx, s.token); errors.Is(err, access.ErrUnauthenticated) {
			s.close(websocket.StatusPolicyViolation, "the token is in force no more")
			return
		}
	}
}

// ping ends with the connection, and not with ctx: the library would cut it off.
func (s *socket) ping(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), s.server.times.heartbeat)
	defer cancel()
	return s.conn.Ping(ctx)
}

// handle does what a message asks for. Its error is that the answer was not sent.
func (s *socket) handle(ctx context.Context, data []byte) error {
	request, err := s.server.read(data)
	if err != nil {
		return s.fail(ctx, request.ID, err)
	}
	switch request.Action {
	case actionSubscribe:
		return s.subscribe(ctx, request)
	case actionUnsubscribe:
		return s.unsubscribe(ctx, request)
	}
	action := s.server.actions[request.Action]
	if action == nil { // auth, for the second time
		return s.fail(ctx, request.ID, errSocketMessage)
	}
	answer, err := s.do(ctx, action, request.Payload)
	if err != nil {
		return s.fail(ctx, request.ID, err)
	}
	return s.send(ctx, answer.answer(request.ID))
}

// do has the server carry out the request of REST that a payload means.
func (s *socket) do(ctx context.Context, action *socketAction, payload map[string]json.RawMessage) (*recorded, error) {
	r, err := action.request(ctx, payload)
	if err != nil {
		return nil, err
	}
	r.Host, r.RemoteAddr, r.RequestURI = s.opened.Host, s.opened.RemoteAddr, r.URL.RequestURI()
	if s.token != "" {
		r.Header.Set(echo.HeaderAuthorization, "Bearer "+s.token)
	}
	answer := &recorded{header: http.Header{}, status: http.StatusOK}
	s.server.rest.ServeHTTP(answer, r)
	return answer, nil
}

// fail sends a problem as the answer to the request of an id.
func (s *socket) fail(ctx context.Context, id string, err error) error {
	failure := failureOf(err)
	return s.send(ctx, socketAnswer{id, socketError, problemOf(err, failure, statusFor(failure), domain.NewID())})
}

func (s *socket) send(ctx context.Context, m socketAnswer) error {
	data, err := json.Marshal(m)
	if err != nil {
		return fmt.Errorf("encode a message: %w", err)
	}
	return s.write(ctx, data)
}

// write sends a message. That it was not sent in time is [os.ErrDeadlineExceeded]; the
// connection is then gone. It does not end with ctx, since half a message would end the
// connection.
func (s *socket) write(ctx context.Context, data []byte) error {
	if err := s.conn.Write(context.WithoutCancel(ctx), websocket.MessageText, data); err != nil {
		return fmt.Errorf("%w: %w", errUnsent, err)
	}
	return nil
}

// over is why nothing more may be written: the token is known to be in force no more,
// and whatever is on its way is not for its owner (EV-6).
func (s *socket) over() error {
	if s.parting.Load() {
		return nil
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, sub := range s.subscriptions {
		if err := sub.over(); errors.Is(err, access.ErrUnauthenticated) {
			return err
		}
	}
	return nil
}

// errClosed is that we closed the connection.
var errClosed = errors.New("closed")

// close closes the connection and says why. A client that does not answer in time is
// cut off.
func (s *socket) close(code websocket.StatusCode, why string) {
	late := time.AfterFunc(partingTimeout, func() { _ = s.below.Close() })
	defer late.Stop()
	_ = s.conn.Close(code, why)
}
