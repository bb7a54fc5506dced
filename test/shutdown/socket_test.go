package shutdown_test

import (
	"net/http"
	"strings"
	"syscall"
	"testing"

	"github.com/coder/websocket"

	"gatehouse/db/dbtest"
	"gatehouse/test/process"
)

// EV-8, OP-10: WebSockets do not keep a server from ending, whether their clients do
// anything or not, and are told that it does.
func TestTerminateEndsSockets(t *testing.T) {
	dbtest.EachURL(t, func(t *testing.T, newURL func(testing.TB) string) {
		server := process.Start(t, newURL(t))
		scene := server.NewScene(t)
		stranger, idle, follower := connect(t, server.URL), connect(t, server.URL), connect(t, server.URL)
		_ = stranger
		const auth = `{"id":"a","action":"auth","payload":{"token":"` + process.AdminToken + `"}}`
		says(t, idle, auth)
		says(t, follower, auth)
		says(t, follower, `{"id":"s","action":"task.subscribe","payload":{"task_id":"`+strings.TrimPrefix(scene.TaskPath(""), "/v1/tasks/")+`"}}`)
		server.Signal(t, syscall.SIGTERM)
		for _, c := range []*websocket.Conn{follower, idle} {
			for {
				if _, _, err := c.Read(t.Context()); err != nil {
					if code := websocket.CloseStatus(err); code != websocket.StatusGoingAway {
						t.Errorf("closed with %v: %v", code, err)
					}
					break
				}
			}
		}
		if state := server.Wait(); state.ExitCode() != 0 || strings.Contains(server.Stderr(), "cut off") {
			t.Errorf("ended with %s:\n%s", state, server.Stderr())
		}
	})
}

func connect(t *testing.T, url string) *websocket.Conn {
	t.Helper()
	c, _, err := websocket.Dial(t.Context(), url+"/v1/ws", &websocket.DialOptions{HTTPHeader: http.Header{}}) //nolint:bodyclose // of an upgrade
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = c.CloseNow() })
	return c
}

// says sends a request and waits for its answer.
func says(t *testing.T, c *websocket.Conn, text string) {
	t.Helper()
	if err := c.Write(t.Context(), websocket.MessageText, []byte(text)); err != nil {
		t.Fatal(err)
	}
	if _, data, err := c.Read(t.Context()); err != nil || !strings.Contains(string(data), `"response"`) {
		t.Fatalf("%s, %v", data, err)
	}
}
