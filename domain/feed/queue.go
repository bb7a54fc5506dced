package feed

import "gatehouse/domain/prompt"

// PreviewLength is how much of the text of an entry is shown, in characters (code
// points). The full text is that of the delivery.
const PreviewLength = 280

// Queue is what a session is owed, in order of delivery.
type Queue struct {
	TaskID    string
	SessionID string
	Revision  int64 // +1 per change (DL-11)
	Capacity  int64 // deliveries that the session may be owed (AD-5)
	AutoRun   bool  // whether they are handed out
	Entries   []Entry
}

// Name implements Payload.
func (Queue) Name() Name { return NameQueue }

// Entry is a delivery without its text.
type Entry struct {
	ID        string
	SessionID string
	Kind      prompt.Kind
	ClientID  *string // the caller's id; nil for what the service made
	State     prompt.State
	Position  int64
	Version   int64  // from 1, +1 per edit (DL-5)
	Size      int64  // of the text, in bytes
	Preview   string // its first PreviewLength characters
}
