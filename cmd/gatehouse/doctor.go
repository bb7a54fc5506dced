package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/spf13/cobra"

	"gatehouse/cmd/gatehouse/internal/config"
	"gatehouse/db"
	"gatehouse/domain"
	"gatehouse/domain/prompt"
	"gatehouse/domain/subagent"
)

// errAilment ends a doctor that found something.
var errAilment = errors.New("something needs attention: see above")

// recoveryPatience is how long recovery may leave what is overdue before that is told of.
const recoveryPatience = 5 * time.Minute

// doctorCommand looks at everything that can be looked at without a server, and says in
// words what it found (OP-7). It may be run beside one, and changes nothing.
func (p *program) doctorCommand() *cobra.Command {
	return &cobra.Command{
		Use:   "doctor",
		Short: "Check settings, database, schema, recovery and subagent contexts",
		Long: "Checks the settings, whether the database can be reached, the version of its schema,\n" +
			"whether deliveries wait for recovery, and whether invocations of subagents are\n" +
			"recorded. It may be run beside a server, and changes nothing. The exit status is 1\n" +
			"when something needs attention.",
		Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error { return p.examine(cmd) },
	}
}

// examine makes the checks in the order in which one needs the other, until one that
// the rest need fails.
func (p *program) examine(cmd *cobra.Command) (err error) {
	d := &doctor{program: p}
	ctx := cmd.Context()
	cfg, log, err := p.settings(cmd)
	if d.tell("configuration", "every setting is accepted", err); err != nil {
		return errAilment
	}
	store, err := lookAtStore(ctx, cfg, log)
	if d.tell("database", "it answers", err); err != nil {
		return errAilment
	}
	defer func() { err = errors.Join(err, store.Close()) }()
	d.examineStore(ctx, store, cfg)
	if d.ailing {
		return errAilment
	}
	return nil
}

// doctor is one examination.
type doctor struct {
	*program

	ailing bool
}

// tell says in a line what a check found: that all is well, or err.
func (d *doctor) tell(check, well string, err error) {
	word := "ok"
	if err != nil {
		word, well, d.ailing = "BAD", err.Error(), true
	}
	fmt.Fprintf(d.stdout, "%-4s %s: %s\n", word, check, well)
}

func (d *doctor) examineStore(ctx context.Context, store *db.Store, cfg config.Settings) {
	version, err := schemaVersion(ctx, store)
	if d.tell("schema", fmt.Sprintf("its version is %d, that of this program", version), err); err != nil {
		return
	}
	prompts := prompt.NewService(prompt.Config{Store: store.Prompts(), Now: domain.SystemClock, AcknowledgeTimeout: cfg.AcknowledgeTimeout})
	neglected, err := prompts.Neglected(ctx, recoveryPatience)
	d.tell("recovery", "no delivery waits for it", cmp.Or(err, neglectedInWords(neglected)))

	h, err := subagent.NewContexts(store.ContextReader()).Health(ctx)
	if err != nil {
		d.tell("subagent contexts", "", err)
		return
	}
	well, ailment := contextsInWords(h)
	d.tell("subagent contexts", well, ailment)
}

func schemaVersion(ctx context.Context, store *db.Store) (int64, error) {
	if err := store.Ready(ctx); err != nil {
		return 0, err
	}
	return store.SchemaVersion(ctx)
}

func neglectedInWords(n prompt.Neglected) error {
	if n == (prompt.Neglected{}) {
		return nil
	}
	return fmt.Errorf("%s past the lease and %s without an acknowledgement wait for it: a server that runs takes them up at its start and regularly",
		count(n.Reservations, "reservation"), count(n.Attempts, "attempt"))
}

// contextsInWords says what a health means, and what ails it.
func contextsInWords(h subagent.Health) (well string, ailment error) {
	if h.Alarms() {
		return "", errors.New(alarmInWords(h))
	}
	last := "none was observed since, which need not mean that all is well"
	if at := h.Found.LastObservedAt; at != nil {
		last = "the last was observed at " + inSeconds(at)
	}
	return fmt.Sprintf("none is missing since %s; %s; %s without a message, %s",
		inSeconds(h.CaptureSince), last, count(int(h.Found.Excess), "context"), count(int(h.Found.Collisions), "collision")), nil
}

func alarmInWords(h subagent.Health) string {
	switch h.State() {
	case subagent.ActivationNone:
		return "not activated: the start of a server does it; if one has started, its log says why not"
	case subagent.ActivationExecutionOnly:
		return "the backfill has not been done, so nothing can be compared: the next start tries again, and the log says why not"
	case subagent.ActivationCaptureOnly:
		return "the schema was not seen to tell executions apart: the next start looks again, and the log says why not"
	case subagent.ActivationComplete:
	}
	return fmt.Sprintf("%s that messages tell of since %s left none: recording fails, or has stopped",
		count(int(h.Found.Shortfall), "invocation"), inSeconds(h.CaptureSince))
}

func inSeconds(t *time.Time) string { return t.UTC().Format(time.RFC3339) }
