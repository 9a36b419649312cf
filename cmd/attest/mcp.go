package main

import (
	"fmt"
	"io"
	"os"
	"path/filepath"
	"time"

	"github.com/spf13/cobra"

	"github.com/GOATnote-Inc/attest/internal/cli"
	"github.com/GOATnote-Inc/attest/internal/mcpserver"
	"github.com/GOATnote-Inc/attest/internal/version"
)

func mcpCommand(env *cli.Env) *cobra.Command {
	s := &mcpserver.Server{}
	memory := cli.Bytes(4 << 30)
	c := &cobra.Command{
		Use:   "mcp",
		Short: "Serve check, exec, gate, profile, explain and diff to coding agents",
		Long: `Serve check, exec, gate, profile, explain and diff to coding agents over the Model Context
Protocol, on standard input and output.

  claude mcp add attest -- attest mcp

An agent sends PTX with the JSON of its call and gets JSON back. All kernels run on the
emulator, so no GPU is needed and no GPU is at risk.

The server does not trust an agent. Each call runs in its own process, in a new folder that
holds only what the agent sent, within --timeout, --memory and a limit on the size of texts
and output. The tools take no paths and no flags.`,
		Example: "  attest mcp\n  attest mcp --timeout 5m --memory 8GiB --evidence .attest",
		Args:    noArgs,
		RunE: func(c *cobra.Command, _ []string) error {
			s.Version, s.Memory = version.This().Version, int64(memory)
			if s.Timeout <= 0 || s.Memory <= 0 {
				return fmt.Errorf("--timeout and --memory must be above zero")
			}
			var err error
			if s.Program, err = os.Executable(); err != nil {
				return err
			}
			if s.Evidence != "" {
				if s.Evidence, err = filepath.Abs(s.Evidence); err != nil {
					return err
				}
			}
			return s.Run(c.Context(), io.NopCloser(env.In), writeCloser{env.Out})
		},
	}
	f := c.Flags()
	f.DurationVar(&s.Timeout, "timeout", 2*time.Minute, "longest time of a call")
	f.Var(&memory, "memory", "largest memory of a call, as in 512MiB")
	f.StringVar(&s.Evidence, "evidence", "", "folder that keeps the records of gate; \"\" keeps nothing")
	return c
}

// writeCloser is a writer that is not closed.
type writeCloser struct{ io.Writer }

func (writeCloser) Close() error { return nil }
