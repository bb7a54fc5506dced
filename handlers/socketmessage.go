package handlers

import (
	"bytes"
	"encoding/json"
	"fmt"
	"strconv"

	"gatehouse/domain/feed"
)

// socketRequest is what a client sends: SocketRequest of the contract.
type socketRequest struct {
	ID      string                     `json:"id"`
	Action  string                     `json:"action"`
	Payload map[string]json.RawMessage `json:"payload"`
}

// socketAnswer is what a client gets for a request.
type socketAnswer struct {
	ID      string           `json:"id"`
	Type    socketAnswerType `json:"type"`
	Payload any              `json:"payload"`
}

type socketAnswerType string

const (
	socketResponse socketAnswerType = "response"
	socketError    socketAnswerType = "error" // the payload is a problem
)

// read reads a message. What is not of the form of the contract is [errSocketMessage],
// and the request then has nothing but an id, if there is one.
func (s *Sockets) read(data []byte) (socketRequest, error) {
	problems, err := judgeJSON(data, s.message)
	if err != nil || len(problems) > 0 {
		return socketRequest{ID: idOfMessage(data)}, errSocketMessage
	}
	var r socketRequest
	if err := json.Unmarshal(data, &r); err != nil {
		return socketRequest{}, fmt.Errorf("read a message that was judged: %w", err)
	}
	return r, nil
}

// idOfMessage is the id in a message that is wrong otherwise.
func idOfMessage(data []byte) string {
	var r struct {
		ID any `json:"id"`
	}
	_ = json.Unmarshal(data, &r)
	id, _ := r.ID.(string)
	return id[:min(len(id), maxSocketID)]
}

// maxSocketID is how much of an id that is too long is sent back, in bytes.
const maxSocketID = 64

// eventMessage is {type, event, task_id, seq, payload}. seq is the number to come back
// with, null where the one the client has stays the one: an event that another one of the
// same change follows would lose that one (EV-1).
func eventMessage(taskID string, e feed.Event) []byte {
	seq := "null"
	if e.Last {
		seq = strconv.FormatInt(e.Seq, 10)
	}
	var b bytes.Buffer
	b.Grow(len(e.Data) + 128)
	b.WriteString(`{"type":"event","event":"` + string(e.Name()) + `","task_id":"` + taskID + `","seq":` + seq + `,"payload":`)
	b.Write(e.Data)
	b.WriteByte('}')
	return b.Bytes()
}
