package docs_test

import (
	"encoding/json"
	"fmt"
	"os/exec"
	"regexp"
	"strings"
	"testing"

	"gatehouse/db/dbtest"
	"gatehouse/test/process"
)

var javascript = regexp.MustCompile("(?s)```js\n(.*?)```")

// The client of docs/websocket.md follows a task, writes a comment and sees it come, and
// the number to come back with.
func TestClientOfWebSocket(t *testing.T) {
	server := process.Start(t, dbtest.SQLiteURL(t))
	scene := server.NewScene(t)
	m := javascript.FindStringSubmatch(read(t, "docs/websocket.md"))
	if m == nil {
		t.Fatal("there is no client")
	}
	const documented = "ws://127.0.0.1:8080/v1/ws"
	if !strings.Contains(m[1], documented) {
		t.Fatalf("the client does not connect to %s", documented)
	}
	client := strings.Replace(m[1], documented, "ws"+strings.TrimPrefix(server.URL, "http")+"/v1/ws", 1)
	payload := scene.Comment()
	payload["task_id"] = scene.Task
	comment, err := json.Marshal(payload)
	if err != nil {
		t.Fatal(err)
	}
	script := fmt.Sprintf(`const token = %q, taskId = %q
function show(event, payload) {
  if (event === "ready") ask("task.plan.comments.create", %s).catch((problem) => console.log(problem))
  if (event !== "task.plan.comments.changed" || payload.comments.length === 0) return
  console.log(payload.comments.length, typeof lastSeq)
  socket.close()
}
%s`, process.AdminToken, scene.Task, comment, client)
	cmd := exec.CommandContext(t.Context(), "node", "--experimental-websocket", "--input-type=module", "--eval", script)
	out, err := cmd.CombinedOutput()
	if err != nil || !strings.Contains(string(out), "1 number\n") {
		t.Errorf("%v:\n%s", err, out)
	}
}
