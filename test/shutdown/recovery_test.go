package shutdown_test

import (
	"net/http"
	"syscall"
	"testing"
	"time"

	"gatehouse/db/dbtest"
	"gatehouse/test/process"
)

// OP-10, DL-13: a runner that waits does not keep a server from ending, and is told to
// ask again.
func TestTerminateEndsWaits(t *testing.T) {
	dbtest.EachURL(t, func(t *testing.T, newURL func(testing.TB) string) {
		server := process.Start(t, newURL(t))
		scene := server.NewScene(t)
		waiting := hold(t, scene, scene.SessionPath("/deliveries/reserve"), `{"wait_seconds":60}`)
		waiting.send(t)
		server.Signal(t, syscall.SIGTERM)
		if answer := <-waiting.answers; answer.Status != http.StatusNoContent {
			t.Errorf("the runner got %s", answer)
		}
		if state := server.Wait(); state.ExitCode() != 0 {
			t.Errorf("ended with %s", state)
		}
	})
}

// OP-10, DL-3: a server that was killed is recovered by the next one, and by itself.
func TestRecoversAfterKill(t *testing.T) {
	dbtest.EachURL(t, func(t *testing.T, newURL func(testing.TB) string) {
		database := newURL(t)
		server := process.Start(t, database)
		reserved, attempted := server.NewScene(t), server.NewScene(t)
		lost := reserve(t, reserved)
		given := reserve(t, attempted)
		attempted.Must(t, 200, "POST", "/v1/deliveries/"+given.Text("delivery.id")+"/attempt", map[string]any{"token": given.Text("token")})
		server.Kill()

		server = process.Start(t, database, "--recovery-interval=20ms", "--acknowledge-timeout=1s")
		reserved.Client, attempted.Client = server.Client, server.Client
		for scene, want := range map[*process.Scene]struct{ id, state string }{
			reserved:  {lost.Text("delivery.id"), "pending"},
			attempted: {given.Text("delivery.id"), "outcome_unknown"},
		} {
			waitState(t, scene, want.id, want.state)
		}
		if session := attempted.Must(t, 200, "GET", attempted.SessionPath(""), nil); session.Text("state") != "waiting_for_input" {
			t.Errorf("the session is %s", session.Text("state"))
		}
	})
}

// reserve admits a prompt and reserves it for a second.
func reserve(t *testing.T, scene *process.Scene) process.Object {
	t.Helper()
	scene.Must(t, 201, "POST", scene.TaskPath("/sessions/"+scene.Session+"/prompts"), map[string]any{"client_message_id": "m", "content": "go on"})
	return scene.Must(t, 200, "POST", scene.SessionPath("/deliveries/reserve"), map[string]any{"lease_seconds": 1})
}

// waitState waits until a delivery is in a state.
func waitState(t *testing.T, scene *process.Scene, id, state string) {
	t.Helper()
	for deadline := time.Now().Add(time.Minute); ; {
		got := scene.Must(t, 200, "GET", "/v1/deliveries/"+id, nil).Text("state")
		if got == state {
			return
		}
		if time.Now().After(deadline) {
			t.Fatalf("the delivery is %s, not %s", got, state)
		}
		time.Sleep(10 * time.Millisecond)
	}
}
