package history

// roleUser is the role of a message that opens a round.
const roleUser = "user"

// RoundMark is what the grouping into rounds has to know of a message.
type RoundMark struct {
	Seq  int64
	Role string
}

// Round is a user message and what follows it up to the next one. Messages before
// the first user message form a round without one, round 0.
type Round struct {
	FirstSeq int64
	LastSeq  int64
	UserSeq  *int64 // of the message that opened it; nil for round 0
	Messages int    // at least 1
}

// Rounds groups messages, ascending by seq, into rounds, ascending. Every message
// is in exactly one.
func Rounds(messages []RoundMark) []Round {
	var rounds []Round
	for _, m := range messages {
		switch {
		case m.Role == roleUser:
			rounds = append(rounds, Round{FirstSeq: m.Seq, UserSeq: &m.Seq})
		case len(rounds) == 0:
			rounds = append(rounds, Round{FirstSeq: m.Seq})
		}
		last := &rounds[len(rounds)-1]
		last.LastSeq = m.Seq
		last.Messages++
	}
	return rounds
}
