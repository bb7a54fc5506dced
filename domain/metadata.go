package domain

import (
	"errors"
)

// ReservedMetadata are the members of metadata that the service owns: a caller may
// not set them (API-24).
var ReservedMetadata = []string{
	"client_message_id", "client_queue_id", "plan_comment_refs",
	"tool_call_id", "parent_tool_call_id", "normalized", "status",
}

// CheckMetadata notes in p what is wrong with metadata that a caller submitted as
// field, and returns it as canonical JSON, which is the form to store and to
// fingerprint. Metadata is an object of at most [MaxMetadata] bytes in that form,
// nested at most [MaxMetadataDepth] deep, without U+0000 and without a member of
// [ReservedMetadata]. Absent metadata is the empty object.
func CheckMetadata(p *Problems, field string, raw []byte) []byte {
	if len(raw) == 0 {
		return []byte("{}")
	}
	v, err := ParseJSON(raw)
	members, isObject := v.(map[string]any)
	if err == nil && !isObject {
		err = &jsonError{ProblemType, "must be an object"}
	}
	var canonical []byte
	if err == nil {
		canonical, err = canonicalizer{maxDepth: MaxMetadataDepth, maxBytes: MaxMetadata}.value(nil, v, 0)
	}
	if fault, ok := errors.AsType[*jsonError](err); ok {
		p.Add(field, fault.code, "%s", fault.message)
		return nil
	}
	for _, name := range ReservedMetadata {
		if _, taken := members[name]; taken {
			p.Add(field+"/"+name, ProblemReserved, "is set by the service")
		}
	}
	return canonical
}
