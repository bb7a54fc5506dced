package claudecode

import (
	"strings"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"
)

// block is one piece of the content of a message.
type block struct {
	Type      string         `json:"type"`
	Text      string         `json:"text"`
	Thinking  string         `json:"thinking"`
	ID        string         `json:"id"`
	Name      string         `json:"name"`
	Input     jsontext.Value `json:"input"`
	ToolUseID string         `json:"tool_use_id"`
	Content   jsontext.Value `json:"content"`
	IsError   bool           `json:"is_error"`
}

// The types of block that are read.
const (
	blockText     = "text"
	blockThinking = "thinking"
	blockToolUse  = "tool_use"
	blockResult   = "tool_result"
	blockImage    = "image"
)

// contents is the content of a message.
type contents []block

// UnmarshalJSONFrom reads a string as one text block, and a list of blocks.
func (c *contents) UnmarshalJSONFrom(dec *jsontext.Decoder) error {
	switch dec.PeekKind() {
	case '"':
		var text string
		err := json.UnmarshalDecode(dec, &text)
		*c = contents{{Type: blockText, Text: text}}
		return err
	case '[':
		return json.UnmarshalDecode(dec, (*[]block)(c))
	default:
		return dec.SkipValue()
	}
}

// blockwise reads contents block by block, without the bad ones.
var blockwise = json.WithUnmarshalers(json.UnmarshalFromFunc(func(dec *jsontext.Decoder, c *contents) error {
	value, err := dec.ReadValue()
	if err == nil {
		*c = blocksOf(value)
	}
	return err
}))

// content returns the blocks of the message of r.
func (r *record) content() []block {
	if r.Message == nil {
		return nil
	}
	return r.Message.Content
}

// blocksOf reads what is a string or a list of blocks. Anything else, and a block
// of another shape, is no content.
func blocksOf(v jsontext.Value) []block {
	switch v.Kind() {
	case '"':
		return []block{{Type: blockText, Text: textValue(v)}}
	case '[':
		var blocks []block
		if json.Unmarshal(v, &blocks, lenient) == nil {
			return blocks
		}
		return eachBlock(v)
	default:
		return nil
	}
}

// eachBlock reads the blocks of a list one by one and leaves out the bad ones.
func eachBlock(v jsontext.Value) []block {
	var values []jsontext.Value
	if json.Unmarshal(v, &values, lenient) != nil {
		return nil
	}
	var blocks []block
	for _, value := range values {
		var b block
		if json.Unmarshal(value, &b, lenient) == nil {
			blocks = append(blocks, b)
		}
	}
	return blocks
}

// textValue returns a JSON string as text, and "" for anything else.
func textValue(v jsontext.Value) string {
	var s string
	if v.Kind() != '"' || json.Unmarshal(v, &s, lenient) != nil {
		return ""
	}
	return s
}

// plainText joins what can be read of blocks; a picture leaves a mark.
func plainText(blocks []block) string {
	var parts []string
	for _, b := range blocks {
		switch b.Type {
		case blockText:
			parts = append(parts, b.Text)
		case blockImage:
			parts = append(parts, "[image]")
		}
	}
	return strings.Join(parts, "\n\n")
}
