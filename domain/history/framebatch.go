package history

import (
	"encoding/json"
	"maps"
	"slices"
	"time"

	"gatehouse/domain/session"
)

// FrameQuery asks for what a batch of frames meets.
type FrameQuery struct {
	SessionID  string
	MessageIDs []string // of the calls, not empty
	TurnIDs    []string
}

// FrameScene is what a batch of frames meets.
type FrameScene struct {
	Messages []session.Message // with one of the ids, of any session, rolled back or not
	Turns    []string          // those of the turns that are of the session
}

// toldFrame is a frame of a batch, judged as far as it can be without the store.
type toldFrame struct {
	Frame

	messageID  string
	observedAt time.Time
	wrong      FrameReason
}

func readFrames(sessionID string, batch []json.RawMessage, now time.Time) []toldFrame {
	told := make([]toldFrame, len(batch))
	for i, raw := range batch {
		f, wrong := ParseFrame(raw)
		told[i] = toldFrame{Frame: f, observedAt: now, wrong: wrong}
		if wrong != "" {
			continue
		}
		told[i].messageID = f.messageID(sessionID)
		if f.ObservedAt != nil {
			told[i].observedAt = *f.ObservedAt
		}
	}
	return told
}

func queryOf(sessionID string, told []toldFrame) FrameQuery {
	messages, turns := map[string]bool{}, map[string]bool{}
	for _, f := range told {
		if f.wrong != "" {
			continue
		}
		messages[f.messageID] = true
		if f.TurnID != "" {
			turns[f.TurnID] = true
		}
	}
	return FrameQuery{sessionID, slices.Sorted(maps.Keys(messages)), slices.Sorted(maps.Keys(turns))}
}
