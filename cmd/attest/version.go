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
		Long: `Print the version of this binary.

  attest version

It shows the version, the revision of the source and whether the source was modified, the
version of Go that compiled it, the targets of the emulator, and the number of PTX
instruction forms in the instruction table. attest --version prints version and revision
on one line.

go install and go build record the revision in the binary. A binary without it, as go run
makes one, shows the revision of the folder that it was compiled from.

JSON: {"version", "revision", "modified", "note", "go", "os", "arch", "targets",
"instruction_forms"}; "note" says where the revision comes from if not from the binary.`,
		Example: "  attest version\n  attest version --json | jq -r .revision",
		Args:    noArgs,
		RunE: func(c *cobra.Command, _ []string) error {
			v := version.WithSource(c.Context())
			if env.JSON {
				env.Encode(v)
			} else {
				v.WriteText(env)
			}
			return nil
		},
	}
}
