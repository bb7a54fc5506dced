package main

import "github.com/spf13/cobra"

// configCommand prints the effective settings, as a settings file (OP-2).
func (p *program) configCommand() *cobra.Command {
	return &cobra.Command{
		Use:   "config",
		Short: "Print the effective settings, with secrets hidden",
		Args:  cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			cfg, _, err := p.settings(cmd)
			if err != nil {
				return err
			}
			out, err := cfg.YAML()
			if err != nil {
				return err
			}
			_, err = p.stdout.Write(out)
			return err
		},
	}
}
