package main

import (
	"os"

	"github.com/spf13/cobra"

	"github.com/GOATnote-Inc/attest/internal/cli"
	"github.com/GOATnote-Inc/attest/internal/replicate"
)

// replicateCommand does jobs in a process of its own. Only attest starts it.
func replicateCommand(env *cli.Env) *cobra.Command {
	return &cobra.Command{
		Use: replicate.Command + " [FILE]", Hidden: true, Args: cobra.MaximumNArgs(1),
		Short: "Do jobs of another process of attest, from standard input or a file",
		RunE: func(c *cobra.Command, args []string) error {
			in, what := env.In, "standard input"
			if len(args) > 0 {
				f, err := os.Open(args[0])
				if err != nil {
					return err
				}
				defer f.Close()
				in, what = f, args[0]
			}
			return replicate.Serve(c.Context(), in, what, env)
		},
	}
}
