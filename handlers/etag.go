package handlers

import (
	"slices"
	"strings"

	"gatehouse/domain"
)

// etag makes the header of a tag that the domain gives a state (API-6).
func etag(tag string) string { return `"` + tag + `"` }

// anyTag stands for whatever state there is, in a list of entity tags.
const anyTag = "*"

// entityTag is one of the tags in If-Match or If-None-Match.
type entityTag struct {
	tag  string // without quotes, or anyTag
	weak bool
}

// parseTags reads a list of entity tags, or reports that header is none.
func parseTags(header string) (tags []entityTag, ok bool) {
	header = strings.TrimSpace(header)
	if header == anyTag {
		return []entityTag{{tag: anyTag}}, true
	}
	for item := range strings.SplitSeq(header, ",") {
		quoted, weak := strings.CutPrefix(strings.TrimSpace(item), "W/")
		tag, opened := strings.CutPrefix(quoted, `"`)
		tag, closed := strings.CutSuffix(tag, `"`)
		if !opened || !closed || strings.Contains(tag, `"`) {
			return nil, false
		}
		tags = append(tags, entityTag{tag, weak})
	}
	return tags, true
}

// unchanged reports whether If-None-Match names the state that tag stands for,
// which is then answered with 304. A list that cannot be read names nothing.
func unchanged(ifNoneMatch *string, tag string) bool {
	if ifNoneMatch == nil {
		return false
	}
	tags, _ := parseTags(*ifNoneMatch)
	return slices.ContainsFunc(tags, func(t entityTag) bool { return t.tag == anyTag || t.tag == tag })
}

// conditionOf returns the tags that If-Match accepts, nil without the header. A
// weak tag never matches, as a write is about the exact state.
func conditionOf(ifMatch *string) ([]string, error) {
	if ifMatch == nil {
		return nil, nil
	}
	tags, ok := parseTags(*ifMatch)
	if !ok {
		return nil, domain.Invalid("/header/If-Match", domain.ProblemFormat, "must be a list of entity tags in double quotes, or *")
	}
	accepted := make([]string, 0, len(tags))
	for _, t := range tags {
		if !t.weak {
			accepted = append(accepted, t.tag)
		}
	}
	return accepted, nil
}
