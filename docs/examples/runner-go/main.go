// Command runner-go hands the prompts of one session to an agent: a command that
// reads a prompt from its standard input. Usage: runner-go command [argument …].
package main

import (
	"bytes"
	"cmp"
	"encoding/json"
	"errors"
	"io"
	"log"
	"net/http"
	"os"
	"os/exec"
	"strconv"
	"time"
)

type object map[string]any

type answer struct {
	Delivery struct{ ID, Content string }
	Token    string
	TurnID   string `json:"turn_id"`
	Code     string // of a failure
}

var lease, _ = strconv.Atoi(cmp.Or(os.Getenv("LEASE_SECONDS"), "30"))

func main() {
	if len(os.Args) < 2 || os.Getenv("GATEHOUSE_URL") == "" || os.Getenv("GATEHOUSE_TOKEN") == "" || os.Getenv("GATEHOUSE_SESSION") == "" {
		log.Fatal("usage: runner-go command [argument …], with GATEHOUSE_URL, GATEHOUSE_TOKEN and GATEHOUSE_SESSION set")
	}
	for {
		status, reserved := call("POST", "/v1/sessions/"+os.Getenv("GATEHOUSE_SESSION")+"/deliveries/reserve",
			object{"lease_seconds": lease, "wait_seconds": 30})
		switch status {
		case http.StatusOK:
			deliver("/v1/deliveries/"+reserved.Delivery.ID, reserved.Token, reserved.Delivery.Content)
		case http.StatusNoContent: // nothing came within 30 seconds
		default:
			log.Fatalf("the session hands nothing out: %d %s", status, reserved.Code)
		}
	}
}

func deliver(path, token, content string) {
	prepared := make(chan bool)
	go func() { // renew while preparing
		for {
			select {
			case <-prepared:
				return
			case <-time.After(time.Duration(lease) * time.Second / 3):
				call("POST", path+"/renew", object{"token": token, "lease_seconds": lease})
			}
		}
	}()
	failed := exec.Command("sh", "-c", os.Getenv("PREPARE")).Run() // whatever takes long: a checkout, a container
	close(prepared)
	if failed != nil { // nothing was sent: somebody tries again, not at once
		log.Printf("not prepared: %v", failed)
		call("POST", path+"/release", object{"token": token, "reason": "not prepared"})
		time.Sleep(time.Second)
		return
	}

	status, attempted := call("POST", path+"/attempt", object{"token": token})
	if attempted.Code == "delivery_attempted" { // by the first of two calls, whose answer was lost
		call("POST", path+"/acknowledge", object{"token": token, "outcome": "failed", "detail": "never sent"})
	}
	if status != http.StatusOK {
		log.Printf("not sent: %s", attempted.Code) // lease_lost: it is another runner's now
		return
	}

	agent, outcome := exec.Command(os.Args[1], os.Args[2:]...), "succeeded"
	stdin, _ := agent.StdinPipe()
	if agent.Start() != nil {
		outcome = "failed" // it never ran, so it has not got the prompt, for certain
	} else if _, err := io.WriteString(stdin, content); err != nil {
		outcome = "unknown" // it may have got it
	}
	_ = stdin.Close()
	call("POST", path+"/acknowledge", object{"token": token, "outcome": outcome})
	state := "completed"
	if agent.Wait() != nil {
		state = "failed"
	}
	call("PATCH", "/v1/turns/"+attempted.TurnID, object{"state": state})
}

// call repeats a request until it is answered. Each of them may be repeated.
func call(method, path string, body object) (status int, a answer) {
	text, _ := json.Marshal(body)
	for ; ; time.Sleep(time.Second) {
		request, err := http.NewRequest(method, os.Getenv("GATEHOUSE_URL")+path, bytes.NewReader(text))
		if err != nil {
			log.Fatal(err)
		}
		request.Header.Set("Authorization", "Bearer "+os.Getenv("GATEHOUSE_TOKEN"))
		request.Header.Set("Content-Type", "application/json")
		response, err := http.DefaultClient.Do(request)
		if err != nil {
			log.Printf("again in a second: %v", err)
			continue
		}
		err = json.NewDecoder(response.Body).Decode(&a)
		_ = response.Body.Close()
		if whole := err == nil || errors.Is(err, io.EOF); whole && response.StatusCode < 500 && response.StatusCode != http.StatusTooManyRequests {
			return response.StatusCode, a
		}
		log.Printf("again in a second: status %d", response.StatusCode)
	}
}
