package plan

import (
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"gatehouse/domain"
)

const (
	taskID = "01890000-0000-7000-8000-000000000001"
	planID = "01890000-0000-7000-8000-000000000002"
)

var epoch = time.Date(2031, 3, 4, 5, 6, 7, 0, time.UTC)

func id(n int) string { return fmt.Sprintf("01890000-0000-7000-8000-%012d", n) }

func draft(n int) Draft {
	return Draft{ID: id(n), Body: "why?", SelectedText: "step one", AnchorFrom: 3, AnchorTo: 11}
}

func comments(ns ...int) []Comment {
	var list []Comment
	for _, n := range ns {
		list = append(list, draft(n).comment(taskID, planID, epoch.Add(time.Duration(n)*time.Second)))
	}
	return list
}

func snapshot(ns ...int) Snapshot {
	return Snapshot{TaskID: taskID, PlanID: planID, Revision: 7, Comments: comments(ns...)}
}

// PC-2, PC-11: what is wrong with a draft is told by field, one by one.
func TestPC2CreateForm(t *testing.T) {
	for name, c := range map[string]struct {
		change func(*NewComment)
		want   string
	}{
		"fine":               {func(*NewComment) {}, ""},
		"white space kept":   {func(n *NewComment) { n.Draft.SelectedText = " " }, ""},
		"byte order mark":    {func(n *NewComment) { n.Draft.Body = "\ufeff" }, ""},
		"no id":              {func(n *NewComment) { n.Draft.ID = "" }, "/body/id format"},
		"no plan id":         {func(n *NewComment) { n.PlanID = "p" }, "/body/plan_id format"},
		"empty body":         {func(n *NewComment) { n.Draft.Body = "" }, "/body/body blank"},
		"blank body":         {func(n *NewComment) { n.Draft.Body = " \r\n\u3000\u2028" }, "/body/body blank"},
		"NUL in body":        {func(n *NewComment) { n.Draft.Body = "a\x00" }, "/body/body nul"},
		"empty selection":    {func(n *NewComment) { n.Draft.SelectedText = "" }, "/body/selected_text blank"},
		"NUL in selection":   {func(n *NewComment) { n.Draft.SelectedText = "\x00" }, "/body/selected_text nul"},
		"negative anchor":    {func(n *NewComment) { n.Draft.AnchorFrom = -1 }, "/body/anchor_from range"},
		"empty range":        {func(n *NewComment) { n.Draft.AnchorTo = n.Draft.AnchorFrom }, "/body/anchor_to range"},
		"several at once":    {func(n *NewComment) { n.Draft.Body, n.Draft.AnchorTo = "", 0 }, "/body/body blank, /body/anchor_to range"},
		"before its lengths": {func(n *NewComment) { n.Draft.Body = strings.Repeat(" ", domain.MaxCommentBody+1) }, "/body/body blank"},
	} {
		t.Run(name, func(t *testing.T) {
			n := NewComment{taskID, planID, draft(1)}
			c.change(&n)
			_, err := n.validate()
			if got := problems(err); got != c.want {
				t.Errorf("validate: %q (%v), want %q", got, err, c.want)
			}
		})
	}
}

func problems(err error) string {
	v, ok := errors.AsType[*domain.ValidationError](err)
	if !ok {
		return ""
	}
	var all []string
	for _, p := range v.Problems {
		all = append(all, p.Field+" "+p.Code)
	}
	return strings.Join(all, ", ")
}

// PC-2: the limits are inclusive and count bytes.
func TestPC2TextLimits(t *testing.T) {
	for name, c := range map[string]struct {
		body, selected string
		want           *LimitError
	}{
		"largest body":      {strings.Repeat("é", 32768), "x", nil},
		"body too large":    {strings.Repeat("é", 32768) + "x", "x", &LimitError{"body", 65536, 65537}},
		"largest selection": {"x", strings.Repeat("𝄞", 65536), nil},
		"selection beyond":  {"x", strings.Repeat("𝄞", 65536) + "x", &LimitError{"selected_text", 262144, 262145}},
	} {
		t.Run(name, func(t *testing.T) {
			d := draft(1)
			d.Body, d.SelectedText = c.body, c.selected
			_, err := NewComment{taskID, planID, d}.validate()
			got, _ := errors.AsType[*LimitError](err)
			if diff := cmp.Diff(c.want, got); diff != "" {
				t.Errorf("limit (-want +got):\n%s", diff)
			}
		})
	}
	_, err := CommentEdit{taskID, id(1), planID, 1, strings.Repeat("x", 65537)}.validate()
	if !errors.Is(err, ErrLimit) {
		t.Errorf("edit: %v, want %v", err, ErrLimit)
	}
}

// PC-2: a collection is judged as it would be.
func TestPC2CollectionLimits(t *testing.T) {
	var full []int
	for n := range domain.MaxCommentCount {
		full = append(full, n)
	}
	s := snapshot(full...)
	if err := s.checkLimits(); err != nil {
		t.Errorf("100 comments: %v", err)
	}
	got, _ := errors.AsType[*LimitError](s.with(comments(100)...).checkLimits())
	if diff := cmp.Diff(&LimitError{"count", 100, 101}, got); diff != "" {
		t.Errorf("101 comments (-want +got):\n%s", diff)
	}

	s = snapshot(1, 2, 3, 4)
	for i := range s.Comments {
		s.Comments[i].SelectedText = strings.Repeat("x", domain.MaxCommentSelected-4)
	}
	if err := s.checkLimits(); err != nil {
		t.Errorf("1 MiB in all: %v", err)
	}
	got, _ = errors.AsType[*LimitError](s.edited(s.Comments[0].edited("why not?", epoch)).checkLimits())
	if diff := cmp.Diff(&LimitError{"total", 1048576, 1048580}, got); diff != "" {
		t.Errorf("over 1 MiB (-want +got):\n%s", diff)
	}
}

// PC-3: the fingerprint tells any difference, and the case of ids is none.
func TestPC3Fingerprint(t *testing.T) {
	same := draft(1)
	same.ID = strings.ToUpper(same.ID)
	base := draft(1).creation(taskID, planID)
	if got := same.creation(taskID, planID); got != base {
		t.Errorf("upper case id: %+v, want %+v", got, base)
	}
	for name, change := range map[string]func(*Draft){
		"body":     func(d *Draft) { d.Body += " " },
		"selected": func(d *Draft) { d.SelectedText = "step two" },
		"from":     func(d *Draft) { d.AnchorFrom++ },
		"to":       func(d *Draft) { d.AnchorTo++ },
		"moved":    func(d *Draft) { d.Body, d.SelectedText = d.SelectedText, d.Body },
	} {
		d := draft(1)
		change(&d)
		if got := d.creation(taskID, planID).Fingerprint; got == base.Fingerprint {
			t.Errorf("another %s has the same fingerprint", name)
		}
	}
	if got := draft(1).creation(taskID, id(9)).Fingerprint; got == base.Fingerprint {
		t.Error("another plan has the same fingerprint")
	}
}

// AD-1, AD-2: refs pick exactly what they name, in canonical order, or nothing.
func TestAD1Pick(t *testing.T) {
	s := snapshot(1, 2, 3)
	got, err := s.Pick([]Ref{{id(3), 1}, {id(1), 1}})
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(comments(1, 3), got); diff != "" {
		t.Errorf("picked (-want +got):\n%s", diff)
	}
	if got, err := s.Pick(nil); got != nil || err != nil {
		t.Errorf("no refs: %v, %v", got, err)
	}
	for name, refs := range map[string][]Ref{
		"stale":   {{id(1), 1}, {id(2), 2}},
		"unknown": {{id(1), 1}, {id(9), 1}},
	} {
		_, err := s.Pick(refs)
		changed, ok := errors.AsType[*CommentsChangedError](err)
		if !ok || !cmp.Equal(changed.Snapshot, s) {
			t.Errorf("%s: %v, want the snapshot", name, err)
		}
	}
	want := Snapshot{taskID, planID, 8, comments(2)}
	if diff := cmp.Diff(want, s.Without(comments(1, 3))); diff != "" {
		t.Errorf("without (-want +got):\n%s", diff)
	}
	if diff := cmp.Diff(snapshot(1, 2, 3), s); diff != "" {
		t.Errorf("the snapshot itself changed (-want +got):\n%s", diff)
	}
}

func TestCheckRefs(t *testing.T) {
	for name, c := range map[string]struct {
		refs []Ref
		want string
	}{
		"none":      {nil, ""},
		"fine":      {[]Ref{{id(1), 1}, {id(2), 5}}, ""},
		"no id":     {[]Ref{{"x", 1}}, "/r/0/id format"},
		"version":   {[]Ref{{id(1), 0}}, "/r/0/version range"},
		"duplicate": {[]Ref{{"0189000a-0000-7000-8000-000000000001", 1}, {"0189000A-0000-7000-8000-000000000001", 2}}, "/r/1/id duplicate"},
		"too many":  {make([]Ref, 101), "/r too_many"},
	} {
		var p domain.Problems
		CheckRefs(&p, "/r", c.refs)
		if got := problems(p.Err()); got != c.want {
			t.Errorf("%s: %q, want %q", name, got, c.want)
		}
	}
}

// PC-13: each draft has its own verdict, and none stands in the way of another.
func TestPC13Judge(t *testing.T) {
	broken := func(n int, change func(*Draft)) Draft {
		d := draft(n)
		change(&d)
		return d
	}
	ledger := map[string]Creation{
		id(1): draft(1).creation(taskID, planID),
		id(2): draft(2).creation(taskID, id(9)),
	}
	drafts := []Draft{
		draft(1),
		draft(2),
		broken(3, func(d *Draft) { d.ID = "3" }),
		broken(4, func(d *Draft) { d.Body = "\t" }),
		broken(5, func(d *Draft) { d.SelectedText = "a\x00b" }),
		broken(6, func(d *Draft) { d.AnchorTo = d.AnchorFrom }),
		broken(7, func(d *Draft) { d.Body = strings.Repeat("x", domain.MaxCommentBody+1) }),
		draft(8),
		draft(8),
		broken(8, func(d *Draft) { d.Body = "another" }),
		draft(10),
	}
	j := judge(snapshot(20), ledger, drafts, epoch)
	want := []DraftResult{
		{id(1), VerdictAlreadyPresent, ""},
		{id(2), VerdictConflict, ""},
		{"3", VerdictRejected, ReasonInvalidID},
		{id(4), VerdictRejected, ReasonBlankBody},
		{id(5), VerdictRejected, ReasonInvalidText},
		{id(6), VerdictRejected, ReasonInvalidAnchor},
		{id(7), VerdictRejected, ReasonLimit},
		{id(8), VerdictCreated, ""},
		{id(8), VerdictAlreadyPresent, ""},
		{id(8), VerdictConflict, ""},
		{id(10), VerdictCreated, ""},
	}
	if diff := cmp.Diff(want, j.results); diff != "" {
		t.Errorf("results (-want +got):\n%s", diff)
	}
	if len(j.comments) != 2 || len(j.ledger) != 2 || j.after.Revision != 8 || len(j.after.Comments) != 3 {
		t.Errorf("%d comments, %d entries, snapshot %+v, want one batch of 2", len(j.comments), len(j.ledger), j.after)
	}
	if nothing := judge(snapshot(20), ledger, drafts[:7], epoch); nothing.comments != nil || nothing.after.Revision != 7 {
		t.Errorf("nothing created: %+v", nothing)
	}
}

// PC-13: the limit of the collection rejects what does not fit and lets through
// what does.
func TestPC13JudgeFillsUp(t *testing.T) {
	big := func(n, size int) Draft {
		d := draft(n)
		d.SelectedText = strings.Repeat("x", size-len(d.Body))
		return d
	}
	j := judge(snapshot(), nil, []Draft{
		big(1, 262144), big(2, 262144), big(3, 262144), big(4, 262139), big(5, 2000), big(6, 1+len("why?")),
	}, epoch)
	var verdicts []Verdict
	for _, r := range j.results {
		verdicts = append(verdicts, r.Verdict)
	}
	want := []Verdict{VerdictCreated, VerdictCreated, VerdictCreated, VerdictCreated, VerdictRejected, VerdictCreated}
	if diff := cmp.Diff(want, verdicts); diff != "" {
		t.Errorf("verdicts (-want +got):\n%s", diff)
	}
}

// PC-9, API-6: a condition names a version, or a tag that no other plan ever has.
func TestPC9Condition(t *testing.T) {
	p := Plan{ID: planID, TaskID: taskID, Version: 3}
	tag := planID + ":3"
	for name, c := range map[string]struct {
		request SaveRequest
		current *Plan
		want    domain.Kind // "" when the condition holds
	}{
		"none":               {SaveRequest{}, &p, ""},
		"none, no plan":      {SaveRequest{}, nil, ""},
		"version":            {SaveRequest{ExpectedVersion: new(int64(3))}, &p, ""},
		"stale version":      {SaveRequest{ExpectedVersion: new(int64(2))}, &p, domain.KindConflict},
		"version, no plan":   {SaveRequest{ExpectedVersion: new(int64(1))}, nil, domain.KindConflict},
		"tag":                {SaveRequest{IfMatch: []string{"x", tag}}, &p, ""},
		"any tag":            {SaveRequest{IfMatch: []string{"*"}}, &p, ""},
		"stale tag":          {SaveRequest{IfMatch: []string{planID + ":2"}}, &p, domain.KindPrecondition},
		"tag of another":     {SaveRequest{IfMatch: []string{taskID + ":3"}}, &p, domain.KindPrecondition},
		"no tag that counts": {SaveRequest{IfMatch: []string{}}, &p, domain.KindPrecondition},
		"any tag, no plan":   {SaveRequest{IfMatch: []string{"*"}}, nil, domain.KindPrecondition},
	} {
		t.Run(name, func(t *testing.T) {
			err := c.request.checkCondition(c.current)
			changed, _ := errors.AsType[*ChangedError](err)
			failure, _ := errors.AsType[*domain.Error](err)
			switch {
			case c.want == "" && err != nil:
				t.Errorf("condition: %v", err)
			case c.want != "" && (failure == nil || failure.Kind != c.want || changed.Plan != c.current || !errors.Is(err, ErrChanged)):
				t.Errorf("condition: %v, want kind %s and the plan", err, c.want)
			}
		})
	}
	both := SaveRequest{TaskID: taskID, ExpectedVersion: new(int64(0)), IfMatch: []string{tag}, Content: "a\x00"}
	_, err := both.validate()
	if got, want := problems(err), "/body/content nul, /body/expected_version range, /header/If-Match contradictory"; got != want {
		t.Errorf("validate: %q, want %q", got, want)
	}
}
