package plan

import (
	"maps"
	"time"

	"gatehouse/domain"
)

// Verdict is what an import made of a draft (PC-13).
type Verdict string

// The verdicts. A client may forget the drafts of the first two.
const (
	VerdictCreated        Verdict = "created"
	VerdictAlreadyPresent Verdict = "already_present" // this very draft was created before
	VerdictConflict       Verdict = "conflict"        // the id belongs to something else
	VerdictRejected       Verdict = "rejected"        // trying again does not help; see the reason
)

// Reason says why a draft was rejected.
type Reason string

// The reasons. [ReasonLimit] alone may pass with time.
const (
	ReasonBlankBody     Reason = "blank_body"
	ReasonLimit         Reason = "limit"        // any of the four limits (PC-2)
	ReasonInvalidText   Reason = "invalid_text" // U+0000, or no selected text
	ReasonInvalidAnchor Reason = "invalid_anchor"
	ReasonInvalidID     Reason = "invalid_id"
)

// DraftResult is the answer about one draft.
type DraftResult struct {
	ID      string // as it was sent
	Verdict Verdict
	Reason  Reason // "" unless rejected
}

// judgement is what an import decides before it writes.
type judgement struct {
	results  []DraftResult // one per draft, in their order
	comments []Comment     // to insert
	ledger   []Creation    // to insert, one per comment
	after    Snapshot      // the comments as they are then
}

// judge decides about every draft on its own: one that fails blocks no other, and
// those that fit are created in the order in which they came (PC-13). ledger
// holds the entries of the drafts' ids.
func judge(before Snapshot, ledger map[string]Creation, drafts []Draft, now time.Time) judgement {
	j := judgement{results: make([]DraftResult, len(drafts)), after: before}
	known := make(map[string]Creation, len(ledger)+len(drafts))
	maps.Copy(known, ledger)
	room := before
	for i, d := range drafts {
		j.results[i] = DraftResult{ID: d.ID, Verdict: VerdictCreated}
		result := &j.results[i]
		if reason := d.reject(); reason != "" {
			result.Verdict, result.Reason = VerdictRejected, reason
			continue
		}
		entry := d.creation(before.TaskID, before.PlanID)
		if earlier, ok := known[entry.ID]; ok {
			result.Verdict = repeated(earlier, entry)
			continue
		}
		comment := d.comment(before.TaskID, before.PlanID, now)
		grown := room.with(comment)
		if grown.checkLimits() != nil {
			result.Verdict, result.Reason = VerdictRejected, ReasonLimit
			continue
		}
		room = grown
		known[entry.ID] = entry
		j.comments = append(j.comments, comment)
		j.ledger = append(j.ledger, entry)
	}
	if len(j.comments) > 0 {
		j.after = before.with(j.comments...)
	}
	return j
}

// reject is why d can be no comment of any plan, or "".
func (d Draft) reject() Reason {
	if flaws := d.flaws(); len(flaws) > 0 {
		return flaws[0].reason
	}
	if d.checkLimits() != nil {
		return ReasonLimit
	}
	return ""
}

// repeated is the verdict on an id that was used before.
func repeated(earlier, entry Creation) Verdict {
	if earlier.Fingerprint == entry.Fingerprint {
		return VerdictAlreadyPresent
	}
	return VerdictConflict
}

// knownIDs lists the canonical ids among those of drafts.
func knownIDs(drafts []Draft) []string {
	var ids []string
	for _, d := range drafts {
		if id, ok := domain.ParseID(d.ID); ok {
			ids = append(ids, id)
		}
	}
	return ids
}
