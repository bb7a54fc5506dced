package history

import (
	"gatehouse/domain/session"
)

// AppendStatus says what became of a message of a batch.
type AppendStatus string

// The statuses (HI-9).
const (
	AppendCreated  AppendStatus = "created"  // it is new
	AppendReplayed AppendStatus = "replayed" // it was appended before, by the same request
)

// Appended is what became of one message of a batch.
type Appended struct {
	ID     string
	Seq    int64 // in the session, for good
	Status AppendStatus
}

// PriorMessage is what a replay is told by.
type PriorMessage struct {
	ID                 string
	SessionID          string
	Seq                int64
	RequestFingerprint string
}

// judge tells which drafts are new and gives them their seq behind last, all or
// nothing: one whose id is taken by another request, in the batch or before it, is
// [session.ErrMessageConflict] (HI-9). fresh are places in drafts. It changes none
// of its arguments.
func judge(sessionID string, drafts []draft, prior []PriorMessage, last int64) (results []Appended, fresh []int, err error) {
	known := make(map[string]PriorMessage, len(prior)+len(drafts))
	for _, p := range prior {
		known[p.ID] = p
	}
	results = make([]Appended, len(drafts))
	for i, d := range drafts {
		m := d.message
		p, taken := known[m.ID]
		if !taken {
			last++
			p = PriorMessage{m.ID, sessionID, last, m.RequestFingerprint}
			known[m.ID] = p
			fresh = append(fresh, i)
			results[i] = Appended{m.ID, p.Seq, AppendCreated}
			continue
		}
		if p.SessionID != sessionID || p.RequestFingerprint != m.RequestFingerprint {
			return nil, nil, session.ErrMessageConflict
		}
		results[i] = Appended{m.ID, p.Seq, AppendReplayed}
	}
	return results, fresh, nil
}
