package delivery_test

import (
	"bufio"
	"encoding/json"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"sync"
	"testing"
)

const recordVariable = "GATEHOUSE_TEST_RECORD"

// given is a prompt as the agent was given it, and a line of its record.
type given struct {
	Delivery string `json:"delivery"`
	Content  string `json:"content"`
	Manner   string `json:"manner"` // how the agent is to take it, see below
}

// How an agent takes a prompt.
const (
	mannerFine    = "fine"
	mannerRefuses = "refuses"  // does not take it, and says so
	mannerHangsUp = "hangs up" // takes it, and says nothing
)

// beAgent is the agent: it writes every prompt that it was given to the end of a
// file, durably, before it answers. It says where it listens.
func beAgent() int {
	record, err := os.OpenFile(os.Getenv(recordVariable), os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o600)
	if err != nil {
		panic(err)
	}
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		panic(err)
	}
	var mu sync.Mutex
	go func() {
		panic(http.Serve(listener, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			var g given
			if err := json.NewDecoder(r.Body).Decode(&g); err != nil {
				panic(err)
			}
			if g.Manner == mannerRefuses {
				http.Error(w, "not now", http.StatusServiceUnavailable)
				return
			}
			mu.Lock()
			defer mu.Unlock()
			if err := write(record, g); err != nil {
				fmt.Fprintln(os.Stderr, err)
				os.Exit(1)
			}
			if g.Manner == mannerHangsUp {
				panic(http.ErrAbortHandler)
			}
		})))
	}()
	if err := json.NewEncoder(os.Stdout).Encode("http://" + listener.Addr().String()); err != nil {
		panic(err)
	}
	_, _ = io.Copy(io.Discard, os.Stdin)
	return 0
}

func write(record *os.File, g given) error {
	if err := json.NewEncoder(record).Encode(g); err != nil {
		return err
	}
	return record.Sync()
}

// startAgent starts an agent and returns its address and the file of its record.
func startAgent(t *testing.T) (url, record string) {
	t.Helper()
	record = t.TempDir() + "/record"
	agent := startHelper(t, roleAgent, recordVariable+"="+record)
	if !agent.hear(&url) {
		t.Fatal("the agent does not say where it listens")
	}
	return url, record
}

// readRecord is what an agent was given, in that order.
func readRecord(t *testing.T, path string) (all []given) {
	t.Helper()
	file, err := os.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = file.Close() }()
	lines := bufio.NewScanner(file)
	for lines.Scan() {
		var g given
		if err := json.Unmarshal(lines.Bytes(), &g); err != nil {
			t.Fatal(err)
		}
		all = append(all, g)
	}
	if err := lines.Err(); err != nil {
		t.Fatal(err)
	}
	return all
}
