package prompt_test

import (
	"encoding/json"
	"os"
	"strings"
	"testing"
	"time"

	"pgregory.net/rapid"

	"gatehouse/domain/plan"
	"gatehouse/domain/prompt"
)

// The published vectors, byte for byte.
func TestRenderVectors(t *testing.T) {
	raw, err := os.ReadFile("../../testdata/cases/prompt-rendering.json")
	if err != nil {
		t.Fatal(err)
	}
	var file struct {
		Cases []struct {
			Name     string
			Comments []struct {
				ID           string
				SelectedText string `json:"selected_text"`
				Body         string
				CreatedAt    time.Time `json:"created_at"`
			}
			Content string
			Prompt  string
		}
	}
	if err := json.Unmarshal(raw, &file); err != nil {
		t.Fatal(err)
	}
	if len(file.Cases) == 0 {
		t.Fatal("there are no cases")
	}
	for _, c := range file.Cases {
		t.Run(c.Name, func(t *testing.T) {
			var comments []plan.Comment
			for _, cc := range c.Comments {
				comments = append(comments, plan.Comment{
					ID: cc.ID, SelectedText: cc.SelectedText, Body: cc.Body, CreatedAt: cc.CreatedAt,
				})
			}
			if got := prompt.Render(comments, c.Content); got != c.Prompt {
				t.Errorf("got  %q\nwant %q", got, c.Prompt)
			}
		})
	}
}

// A reader of fences finds in the prompt exactly the selections that went in,
// whatever they hold: none closes its fence, and no body or content is taken for
// a part of one.
func TestRenderNeverBreaksOut(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		text := rapid.StringOf(rapid.SampledFrom([]rune("``` \n\r\t>-#~a\u2028é")))
		var comments []plan.Comment
		var want []string
		at := time.Date(2031, 3, 4, 5, 6, 7, 0, time.UTC)
		for i := range rapid.IntRange(0, 4).Draw(t, "comments") {
			selected := text.Draw(t, "selected")
			comments = append(comments, plan.Comment{
				SelectedText: selected,
				Body:         text.Draw(t, "body"),
				CreatedAt:    at.Add(time.Duration(i) * time.Second),
			})
			want = append(want, selected)
		}
		content := text.Draw(t, "content")

		got := prompt.Render(comments, content)
		if !strings.HasSuffix(got, content) {
			t.Fatalf("content %q is not at the end of %q", content, got)
		}
		above := strings.TrimSuffix(got, content)
		if found := fenced(t, above); strings.Join(found, "\x00") != strings.Join(want, "\x00") || len(found) != len(want) {
			t.Fatalf("fences hold %q, want %q", found, want)
		}
	})
}

// fenced returns what stands between the fences of Markdown: a fence is closed by
// the first line that has at least its backticks and nothing else but space.
func fenced(t *rapid.T, markdown string) []string {
	var found, inside []string
	var fence string
	for line := range strings.SplitSeq(markdown, "\n") {
		bare := strings.Trim(line, " \t\r")
		ticks := len(bare) - len(strings.TrimLeft(bare, "`"))
		switch {
		case fence == "" && strings.HasPrefix(line, "```"):
			fence, inside = line, nil
		case fence != "" && ticks == len(bare) && ticks >= len(fence):
			found = append(found, strings.Join(inside, "\n"))
			fence = ""
		case fence != "":
			inside = append(inside, line)
		}
	}
	if fence != "" {
		t.Fatalf("the fence %q is never closed", fence)
	}
	return found
}
