package prompt

import (
	"errors"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"gatehouse/domain"
	"gatehouse/domain/plan"
	"gatehouse/domain/session"
)

// sourcesOf are pending deliveries with texts, in order.
func sourcesOf(texts ...string) []*Delivery {
	sources := make([]*Delivery, len(texts))
	for i, text := range texts {
		sources[i] = &Delivery{ID: strconv.Itoa(i), State: StatePending, Content: text, Position: int64(i + 5)}
	}
	return sources
}

// DL-8: texts, refs and attachments of all, mode and model of the oldest.
func TestCombine(t *testing.T) {
	sources := sourcesOf("first\n", " \t", "", "last")
	sources[0].PlanMode, sources[0].Model = true, new("m")
	sources[1].Attachments = []Attached{{ID: "b"}, {ID: "a"}}
	sources[2].Attachments, sources[2].PlanCommentRefs = []Attached{{ID: "a"}, {ID: "c"}}, []plan.Ref{{ID: "x", Version: 2}}
	sources[3].PlanCommentRefs, sources[3].Model = []plan.Ref{{ID: "w", Version: 1}, {ID: "x", Version: 2}}, new("n")
	s := session.Session{ID: "s", TaskID: "t", IncarnationID: "i", QueueRevision: 7}
	d, err := combine(sources, s, 5, noon)
	if err != nil {
		t.Fatal(err)
	}
	want := Delivery{
		ID: d.ID, TaskID: "t", SessionID: "s", IncarnationID: "i", Kind: KindCombined, State: StatePending, Position: 4,
		Content: "first\n\n\nlast", PlanMode: true, Model: new("m"), Attachments: []Attached{{ID: "b"}, {ID: "a"}, {ID: "c"}},
		PlanCommentRefs: []plan.Ref{{ID: "x", Version: 2}, {ID: "w", Version: 1}},
		Metadata:        []byte(`{"plan_comment_refs":[{"id":"x","version":2},{"id":"w","version":1}]}`),
		Version:         1, PendingAt: noon, CreatedAt: noon, UpdatedAt: noon,
	}
	if diff := cmp.Diff(want, d); diff != "" {
		t.Errorf("combination (-want +got):\n%s", diff)
	}
	if d, err = combine(sourcesOf(""), s, 1, noon); err != nil || d.Attachments == nil || d.PlanCommentRefs == nil || d.Position != 0 {
		t.Errorf("nothing but a source: %+v, %v", d, err)
	}
}

// DL-8: what one prompt may not hold, several together may not either.
func TestCombineLimits(t *testing.T) {
	sources := sourcesOf("", "")
	for i := range domain.MaxAttachments {
		sources[i%2].Attachments = append(sources[i%2].Attachments, Attached{ID: strconv.Itoa(i)})
	}
	if _, err := combine(sources, session.Session{}, 1, noon); err != nil {
		t.Errorf("as many attachments as allowed: %v", err)
	}
	sources[1].Attachments = append(sources[1].Attachments, Attached{ID: "one more"})
	_, err := combine(sources, session.Session{}, 1, noon)
	e, ok := errors.AsType[*domain.ValidationError](err)
	if !ok || e.Problems[0].Field != "/body/entry_ids" || e.Problems[0].Code != domain.ProblemTooMany {
		t.Errorf("one attachment more: %v", err)
	}
	most := strings.Repeat("x", domain.MaxPromptContent-3)
	if _, err := combine(sourcesOf(most, "y"), session.Session{}, 1, noon); err != nil {
		t.Errorf("as much text as allowed: %v", err)
	}
	if _, err := combine(sourcesOf(most, "yy"), session.Session{}, 1, noon); !errors.Is(err, ErrTooLarge) {
		t.Errorf("one byte more: %v", err)
	}
}

// DL-8: what speaks first when several things stand in the way, and what is picked.
func TestPickOrder(t *testing.T) {
	token := newToken()
	held, expired := Delivery{ID: "held", State: StatePending, Kind: KindQueued}, Delivery{ID: "expired", State: StatePending, Kind: KindQueued}
	held.reserve(token, noon, noon.Add(1))
	expired.reserve(token, noon, noon)
	q := Queue{Revision: 3, Entries: []Delivery{
		{ID: "whole", State: StatePending, Kind: KindCombined},
		{ID: "source", State: StateCombined, Kind: KindQueued},
		{ID: "direct", State: StatePending, Kind: KindDirect},
		{ID: "queued", State: StatePending, Kind: KindQueued},
	}}
	with := func(d Delivery) Queue {
		q := q
		q.Entries = append(slices.Clone(q.Entries), d)
		return q
	}
	for name, c := range map[string]struct {
		q       Queue
		stale   bool
		reserve bool
		ids     []string
		want    []string
		err     error
	}{
		"all":                     {q: q, want: []string{"direct", "queued"}},
		"all, one held":           {q: with(held), want: []string{"direct", "queued"}},
		"all, one expired":        {q: with(expired), reserve: true, want: []string{"direct", "queued", "expired"}},
		"all for a runner, held":  {q: with(held), stale: true, reserve: true, err: ErrSendNowConflict},
		"some":                    {q: q, ids: []string{"queued"}, want: []string{"queued"}},
		"some, in order":          {q: with(held), ids: []string{"queued", "direct"}, want: []string{"direct", "queued"}},
		"the held one":            {q: with(held), stale: true, ids: []string{"held", "nobody"}, err: ErrSendNowConflict},
		"the expired one":         {q: with(expired), ids: []string{"expired"}, want: []string{"expired"}},
		"of another revision":     {q: q, stale: true, ids: []string{"nobody"}, err: ErrQueueChanged},
		"unknown":                 {q: q, ids: []string{"queued", "nobody"}, err: ErrEntryNotFound},
		"a combination":           {q: q, ids: []string{"whole"}, err: ErrEntryNotEditable},
		"a source":                {q: q, ids: []string{"source"}, err: ErrEntryNotEditable},
		"none":                    {q: q, ids: []string{}, err: ErrQueueEmpty},
		"all of an empty queue":   {q: Queue{Revision: 3}, err: ErrQueueEmpty},
		"all of what is combined": {q: Queue{Revision: 3, Entries: q.Entries[:2]}, err: ErrQueueEmpty},
	} {
		t.Run(name, func(t *testing.T) {
			r := SendNow{ExpectedRevision: 3, Reserve: c.reserve}
			if c.stale {
				r.ExpectedRevision = 2
			}
			var wanted map[string]bool
			if c.ids != nil {
				wanted = map[string]bool{}
			}
			for _, id := range c.ids {
				wanted[id] = true
			}
			picked, err := r.pick(wanted, c.q, noon)
			var got []string
			for _, d := range picked {
				got = append(got, d.ID)
			}
			if !errors.Is(err, c.err) || !slices.Equal(got, c.want) {
				t.Errorf("picked %v, %v, want %v, %v", got, err, c.want, c.err)
			}
		})
	}
}
