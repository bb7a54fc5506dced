package prompt

import (
	"cmp"
	"slices"
	"strings"

	"gatehouse/domain/plan"
)

const (
	commentsHeading = "### Plan Comments\n\n"
	commentsRule    = "---\n\n"
	shortestFence   = 3
)

// Render returns the canonical prompt: comments, in canonical order (created_at,
// then id), above the base content. It is the one text that transcript, queue and
// agent see, on both transports. Every byte of the texts is kept as it is; only LF
// ends a line. Without comments the prompt is the content alone.
func Render(comments []plan.Comment, content string) string {
	if len(comments) == 0 {
		return content
	}
	var b strings.Builder
	b.WriteString(commentsHeading)
	for _, c := range slices.SortedFunc(slices.Values(comments), canonicalOrder) {
		renderComment(&b, c)
	}
	b.WriteString(commentsRule)
	b.WriteString(content)
	return b.String()
}

func canonicalOrder(a, b plan.Comment) int {
	return cmp.Or(a.CreatedAt.Compare(b.CreatedAt), strings.Compare(a.ID, b.ID))
}

// renderComment writes the selection between fences and the body as a quotation.
func renderComment(b *strings.Builder, c plan.Comment) {
	fence := fenceFor(c.SelectedText)
	b.WriteString(fence + "\n")
	b.WriteString(c.SelectedText)
	b.WriteString("\n" + fence + "\n")
	for line := range strings.SplitSeq(c.Body, "\n") {
		b.WriteString("> ")
		b.WriteString(line)
		b.WriteByte('\n')
	}
	b.WriteByte('\n')
}

// fenceFor returns a fence longer than every run of backticks in text, and of
// three at least: a selection can never close it.
func fenceFor(text string) string {
	longest, run := 0, 0
	for i := range len(text) {
		if text[i] != '`' {
			run = 0
			continue
		}
		run++
		longest = max(longest, run)
	}
	return strings.Repeat("`", max(shortestFence, longest+1))
}
