package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"path"
	"strings"

	"github.com/spf13/cobra"

	"gatehouse/cmd/gatehouse/internal/config"
	"gatehouse/domain"
)

// program is what a run of the program has to do with the outside, so that tests
// run it in their own process.
type program struct {
	stdout   io.Writer
	stderr   io.Writer
	environ  []string  // of the form of os.Environ
	assemble assembler // what serve serves
}

// run carries out one command line and returns the exit status: 0, or 1 when
// something failed, which is then said on stderr.
func (p *program) run(ctx context.Context, args []string) int {
	root := p.root()
	root.SetArgs(args)
	root.SetOut(p.stdout)
	root.SetErr(p.stderr)
	if err := root.ExecuteContext(ctx); err != nil {
		fmt.Fprintln(p.stderr, "gatehouse:", plainly(err))
		return 1
	}
	return 0
}

// plainly is what a person at a terminal is told of err: of a refused value the
// sentences that API clients get, for the codes alone do not say what to write.
func plainly(err error) string {
	invalid, ok := errors.AsType[*domain.ValidationError](err)
	if !ok {
		return err.Error()
	}
	said := make([]string, len(invalid.Problems))
	for i, problem := range invalid.Problems {
		said[i] = path.Base(problem.Field) + " " + problem.Message
	}
	return strings.Join(said, "; ")
}

// root is the command that holds all others. Every setting is a flag of it.
func (p *program) root() *cobra.Command {
	root := &cobra.Command{
		Use:   "gatehouse",
		Short: "Keeps feedback, prompts and the record of coding agents",
		Long: "Gatehouse stands between people and coding agents. Every setting is a flag, an\n" +
			"environment variable (--queue-capacity is GATEHOUSE_QUEUE_CAPACITY) or a key of\n" +
			"the YAML file that --config names, in this order of precedence.",
		SilenceUsage:  true,
		SilenceErrors: true,
	}
	config.AddFlags(root.PersistentFlags())
	root.AddCommand(
		p.configCommand(),
		p.doctorCommand(),
		p.healthCommand(),
		p.importCommand(),
		p.migrateCommand(),
		p.serveCommand(),
		p.tokenCommand(),
		p.versionCommand(),
		p.workspaceCommand(),
	)
	root.SetFlagErrorFunc(func(c *cobra.Command, err error) error {
		return fmt.Errorf("%w; see %s --help", err, c.CommandPath())
	})
	guide(root)
	return root
}

// guide makes a command and those below it fail on words that they do not take, and
// say then what they do take. One that only holds others shows its help without a
// word.
func guide(c *cobra.Command) {
	if c.HasSubCommands() && !c.Runnable() {
		c.Args = cobra.NoArgs
		c.RunE = func(c *cobra.Command, _ []string) error { return c.Help() }
	}
	if takes := c.Args; takes != nil {
		c.Args = func(c *cobra.Command, args []string) error {
			err := takes(c, args)
			if err != nil && c.HasSubCommands() {
				return fmt.Errorf("%w; %s --help lists what there is", err, c.CommandPath())
			}
			if err != nil {
				return fmt.Errorf("%w; usage: %s", err, c.UseLine())
			}
			return nil
		}
	}
	for _, below := range c.Commands() {
		guide(below)
	}
}

// settings are the effective settings of a command, and the log they describe.
func (p *program) settings(cmd *cobra.Command) (config.Settings, *slog.Logger, error) {
	cfg, err := config.Load(cmd.Flags(), p.environ)
	if err != nil {
		return cfg, nil, err
	}
	return cfg, newLogger(cfg, p.stderr), nil
}
