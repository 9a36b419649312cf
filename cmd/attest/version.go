package main

import (
	"github.com/spf13/cobra"

	"github.com/GOATnote-Inc/attest/internal/cli"
	"github.com/GOATnote-Inc/attest/internal/version"
)

func versionCommand(env *cli.Env) *cobra.Command {
	return &cobra.Command{
		Use:   "version",
		Short: "Print the version of this binary",
		Long: `Print what this binary is: its version and revision, the Go version that built it, the
targets of the emulator and the number of PTX instruction forms that it knows. attest
--version prints the first two on one line.

JSON: {"version", "revision", "modified", "go", "os", "arch", "targets",
"instruction_forms"}.`,
		Example: "  attest version\n  attest version --json",
		Args:    cobra.NoArgs,
		RunE: func(*cobra.Command, []string) error {
			v := version.This()
			if env.JSON {
				env.Encode(v)
			} else {
				v.WriteText(env)
			}
			return nil
		},
	}
}
