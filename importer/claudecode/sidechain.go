package claudecode

// sideChains are the threads of subagents within a main file: lines that lead, by
// their parents, to a first one whose text is the prompt of a call. Chains of
// parallel calls interleave.
type sideChains struct {
	roots  map[string]*chain // by the UUID of a line
	chains []*chain          // in the order of their first lines
}

type chain struct {
	prompt digest
	lines  []ref
	call   string // the call it belongs to, once known
}

func newSideChains() *sideChains { return &sideChains{roots: map[string]*chain{}} }

func (s *sideChains) add(r *record) {
	c := s.roots[r.ParentUUID]
	if c == nil {
		c = &chain{}
		if r.speaks() {
			c.prompt = digestOf(plainText(r.content()))
		}
		s.chains = append(s.chains, c)
	}
	if r.UUID != "" {
		s.roots[r.UUID] = c
	}
	if r.speaks() {
		c.lines = append(c.lines, r.at)
	}
}

// take returns the first chain of prompt that belongs to no call or to this one.
func (s *sideChains) take(call string, prompt digest) *chain {
	for _, c := range s.chains {
		if c.prompt == prompt && (c.call == "" || c.call == call) {
			c.call = call
			return c
		}
	}
	return nil
}
