package shutdown_test

import (
	"bufio"
	"fmt"
	"io"
	"net"
	"strings"
	"syscall"
	"testing"
	"time"

	"gatehouse/db/dbtest"
	"gatehouse/test/process"
)

// EV-8, OP-10: streams of events do not keep a server from ending, whether their clients
// read or not; and who comes back to the next server misses nothing.
func TestTerminateEndsStreams(t *testing.T) {
	dbtest.EachURL(t, func(t *testing.T, newURL func(testing.TB) string) {
		database := newURL(t)
		server := process.Start(t, database)
		scene := server.NewScene(t)
		follow(t, scene, "") // and reads no more
		body, last := follow(t, scene, "")
		server.Signal(t, syscall.SIGTERM)
		if rest, err := io.ReadAll(body); err != nil || !strings.HasSuffix(string(rest), "0\r\n\r\n") {
			t.Errorf("the stream ends with %q, %v", rest, err)
		}
		if state := server.Wait(); state.ExitCode() != 0 || strings.Contains(server.Stderr(), "cut off") {
			t.Errorf("ended with %s:\n%s", state, server.Stderr())
		}

		server = process.Start(t, database)
		scene.Client = server.Client
		scene.NewComment(t)
		follow(t, scene, last)
	})
}

// follow opens a stream and reads until it is ready. It returns what comes behind, and
// the last id. One that goes on where another ended owes exactly a comment.
func follow(t *testing.T, scene *process.Scene, since string) (body *bufio.Reader, last string) {
	t.Helper()
	c, err := net.Dial("tcp", strings.TrimPrefix(scene.URL, "http://"))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = c.Close() })
	if err := c.SetDeadline(time.Now().Add(time.Minute)); err != nil { // hangs otherwise
		t.Fatal(err)
	}
	header := ""
	if since != "" {
		header = "Last-Event-ID: " + since + "\r\n"
	}
	_, err = fmt.Fprintf(c, "GET %s HTTP/1.1\r\nHost: localhost\r\nAuthorization: Bearer %s\r\n%s\r\n", scene.TaskPath("/events"), process.AdminToken, header)
	if err != nil {
		t.Fatal(err)
	}
	body = bufio.NewReader(c)
	var names []string
	for {
		line, err := body.ReadString('\n')
		if err != nil {
			t.Fatalf("after %q: %v", names, err)
		}
		if name, ok := strings.CutPrefix(line, "event: "); ok {
			names = append(names, strings.TrimSpace(name))
		}
		if id, ok := strings.CutPrefix(line, "id: "); ok {
			last = strings.TrimSpace(id)
		}
		if strings.HasPrefix(line, "event: ready") {
			break
		}
	}
	if want := "task.plan.comments.changed ready"; since != "" && strings.Join(names, " ") != want {
		t.Errorf("since %s: %q, want %q", since, names, want)
	}
	return body, last
}
