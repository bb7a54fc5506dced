package delivery_test

import (
	"fmt"
	"net/http"
	"sync"
	"testing"
	"time"
)

// waiting is how many prompts of a session wait at a time.
const waiting = 3

// feed queues prompts for every session until no mishap is left.
func (d *director) feed(t *testing.T) {
	t.Helper()
	stop := make(chan struct{})
	var people sync.WaitGroup
	for i := range d.session {
		people.Go(func() { d.supply(t, i, stop) })
	}
	for deadline := time.Now().Add(within); !t.Failed() && d.remaining() > 0; time.Sleep(10 * time.Millisecond) {
		if time.Now().After(deadline) {
			t.Errorf("mishaps are left: %v", d.todo)
		}
	}
	close(stop)
	people.Wait()
}

func (d *director) remaining() int {
	d.mu.Lock()
	defer d.mu.Unlock()
	return d.left
}

// supply sees to it that prompts wait in a session.
func (d *director) supply(t *testing.T, session int, stop <-chan struct{}) {
	for n := 0; !t.Failed(); {
		select {
		case <-stop:
			return
		case <-time.After(5 * time.Millisecond):
		}
		if d.waiting(d.session[session]) < waiting {
			n++
			d.admit(t, session, fmt.Sprintf("q%d", n))
		}
	}
}

func (d *director) waiting(session string) (n int) {
	d.mu.Lock()
	defer d.mu.Unlock()
	for id, a := range d.books.admitted {
		if a.session == session && !d.books.gone(id) {
			n++
		}
	}
	return n
}

// admit queues a prompt, again and again under one id until it is answered.
func (d *director) admit(t *testing.T, session int, clientID string) {
	scene := d.scenes[session]
	content := "do " + clientID
	body := map[string]any{"client_queue_id": clientID, "content": content}
	for again := false; !t.Failed(); again = true {
		answer, err := d.client().Send(t.Context(), http.MethodPost, scene.TaskPath("/sessions/"+scene.Session+"/queue"), body)
		switch {
		case err != nil || answer.Status == http.StatusServiceUnavailable:
			time.Sleep(20 * time.Millisecond)
		case answer.Status == http.StatusCreated, answer.Status == http.StatusOK && again:
			d.mu.Lock()
			defer d.mu.Unlock()
			d.books.admitted[answer.Object().Text("delivery.id")] = admitted{scene.Session, clientID, content}
			return
		default:
			t.Errorf("admit %s: %s", clientID, answer)
		}
	}
}
