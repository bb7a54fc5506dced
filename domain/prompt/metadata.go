package prompt

import (
	"encoding/json"

	"gatehouse/domain/plan"
)

// ownMetadata is the metadata of message and delivery: the caller's, and what the
// service adds to it, which is the caller's id and the accepted refs (AD-11).
func (r Request) ownMetadata() json.RawMessage {
	members := map[string]json.RawMessage{}
	if err := json.Unmarshal(r.Metadata, &members); err != nil {
		panic(err) // a checked request has an object
	}
	members[r.clientIDField()] = encode(r.ClientID)
	members["plan_comment_refs"] = encodeRefs(r.Refs)
	return encode(members)
}

// combinedMetadata is the metadata of a combination, which no caller gave any.
func combinedMetadata(refs []plan.Ref) json.RawMessage {
	return encode(map[string]json.RawMessage{"plan_comment_refs": encodeRefs(refs)})
}

// encodeRefs is [{"id", "version"}, …], never null.
func encodeRefs(refs []plan.Ref) json.RawMessage {
	if refs == nil {
		refs = []plan.Ref{}
	}
	return encode(refs)
}
