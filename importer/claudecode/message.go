package claudecode

import (
	"cmp"
	"context"
	"slices"
	"strconv"
	"strings"

	"gatehouse/domain"
)

// add tells the sink a message of the thread that begins with r.
func (t *thread) add(ctx context.Context, r *record, m Message) error {
	m.SessionID, m.TurnID, m.Type = t.session, t.turn.ID, cmp.Or(m.Type, TypeMessage)
	m.Place, m.CreatedAt = r.at.place(), t.clock
	if m.Metadata == nil {
		m.Metadata = map[string]any{}
	}
	if len(m.Content) > domain.MaxMessageText {
		m.Content, m.Metadata["truncated"] = clip(m.Content, domain.MaxMessageText), true
	}
	if len(m.Thinking) > domain.MaxMessageText {
		m.Thinking, m.Metadata["truncated"] = clip(m.Thinking, domain.MaxMessageText), true
	}
	return t.sink.Message(ctx, m)
}

// lineID is the id of a message that is one line, or one part of it.
func (t *thread) lineID(r *record, part int) string {
	if part == 0 {
		return domain.DeriveID(t.session, "line", r.name())
	}
	return domain.DeriveID(t.session, "line", r.name(), strconv.Itoa(part))
}

func (t *thread) prompt(ctx context.Context, r *record) error {
	if err := t.beginTurn(ctx, r); err != nil {
		return err
	}
	text, command := r.promptText()
	m := Message{ID: t.lineID(r, 0), Role: RoleUser, Content: text, Settled: true}
	if command != "" {
		m.Metadata = map[string]any{"command": title(command)}
	}
	return t.add(ctx, r, m)
}

// notice tells what the program said in the conversation.
func (t *thread) notice(ctx context.Context, r *record, text string, kind saying) error {
	return t.add(ctx, r, Message{
		ID: t.lineID(r, 0), Role: RoleSystem, Type: TypeNotice, Content: text,
		Metadata: map[string]any{"notice": kind.notice()}, Settled: true,
	})
}

// answers tells what tools answered.
func (t *thread) answers(ctx context.Context, r *record) error {
	for part, a := range r.answers() {
		m := Message{ID: t.lineID(r, part), Role: RoleTool, Content: a.text(), ToolCallID: a.call, Settled: true}
		m.Metadata = map[string]any{}
		if a.isError {
			m.Metadata["is_error"] = true
		}
		if c := t.index.calls[a.call]; c != nil {
			m.Metadata["tool"] = title(c.name)
		}
		if err := t.add(ctx, r, m); err != nil {
			return err
		}
	}
	return nil
}

// assistant tells a message at the place of its first line, with all its lines, and
// behind it the subagents it called. A message without anything to read is none.
func (t *thread) assistant(ctx context.Context, r *record) error {
	key := r.key()
	refs := t.index.lines[key]
	if len(refs) == 0 || refs[0] != r.at {
		return nil
	}
	m, calls, err := t.assemble(r, refs)
	if err != nil {
		return err
	}
	t.apiError = r.IsAPIError
	if m.Content == "" && m.Thinking == "" && len(m.ToolCalls) == 0 {
		return nil
	}
	m.ID = domain.DeriveID(t.session, "message", key)
	if err := t.add(ctx, r, m); err != nil {
		return err
	}
	for _, c := range calls {
		if err := t.delegate(ctx, c, m.ID); err != nil {
			return err
		}
	}
	return nil
}

// assemble makes one message of its lines, each of which has a block, as a rule.
func (t *thread) assemble(first *record, refs []ref) (Message, []*call, error) {
	m := Message{Role: RoleAssistant, Metadata: map[string]any{}}
	var texts, thoughts []string
	var calls []*call
	rec, best := first, (*usage)(nil)
	stop := ""
	for i, at := range refs {
		if i > 0 {
			var err error
			if rec, err = at.record(); err != nil {
				return Message{}, nil, err
			}
		}
		if rec.Message == nil {
			continue
		}
		stop = cmp.Or(rec.Message.StopReason, stop)
		if u := rec.Message.Usage; u != nil && (best == nil || u.OutputTokens > best.OutputTokens) {
			best = u
		}
		for _, b := range rec.content() {
			switch b.Type {
			case blockText:
				texts = append(texts, b.Text)
			case blockThinking:
				thoughts = append(thoughts, b.Thinking)
			case blockToolUse:
				c, err := t.toolCall(&m, b, first.key())
				if err != nil {
					return Message{}, nil, err
				}
				if c != nil {
					calls = append(calls, c)
				}
			}
		}
	}
	m.Content, m.Thinking = joined(texts), joined(thoughts)
	describe(&m, first, best)
	t.settle(&m, first.key(), stop, calls)
	return m, calls, nil
}

// toolCall adds a call to m, whose key is message, with what it changed if it was
// successful. Of an id that m has already there is no further call.
func (t *thread) toolCall(m *Message, b block, message string) (*call, error) {
	again := slices.ContainsFunc(m.ToolCalls, func(c ToolCall) bool { return c.ID == b.ID })
	arguments := strings.ToValidUTF8(string(b.Input), "\uFFFD")
	if arguments == "" {
		arguments = "{}"
	}
	m.ToolCalls = append(m.ToolCalls, ToolCall{b.ID, b.Name, arguments, summarize(b.Input)})
	if again {
		return nil, nil //nolint:nilnil // it was told
	}
	c := t.index.call(b.ID, message)
	if c == nil || !c.answered || !edits[b.Name] {
		return c, nil
	}
	rec, err := c.result.record()
	if err != nil {
		return nil, err
	}
	if res, ok := rec.resultOf(b.ID); ok {
		if e, ok := editOf(b.Name, b.Input, res); ok {
			m.FileChanges = append(m.FileChanges, t.known.change(b.ID, e))
		}
	}
	return c, nil
}

// describe notes in m what the model's interface said of the message.
func describe(m *Message, first *record, u *usage) {
	if first.Message.Model != "" {
		m.Metadata["model"] = title(first.Message.Model)
	}
	if first.IsAPIError {
		m.Metadata["is_error"] = true
	}
	if u != nil {
		m.Metadata["usage"] = map[string]any{
			"input_tokens": u.InputTokens, "output_tokens": u.OutputTokens,
			"cache_creation_input_tokens": u.CacheCreated, "cache_read_input_tokens": u.CacheRead,
		}
	}
}

// settle says whether m is complete: the thread ended or went on behind it, or the
// model said that it had finished. stop is the reason it gave, if any.
func (t *thread) settle(m *Message, key, stop string, calls []*call) {
	t.open = false
	if t.finished || t.index.passed(key) {
		m.Settled = true
		return
	}
	for _, c := range calls {
		t.open = t.open || !c.answered
	}
	m.Settled = stop != "" && stop != "tool_use" && !t.open
}

// joined puts the pieces of a message together, without the empty ones.
func joined(parts []string) string {
	var kept []string
	for _, p := range parts {
		if p != "" {
			kept = append(kept, p)
		}
	}
	return strings.Join(kept, "\n\n")
}
