package main

import (
	"errors"

	"github.com/spf13/cobra"

	"github.com/GOATnote-Inc/attest/internal/cli"
	"github.com/GOATnote-Inc/attest/internal/findingtext"
	"github.com/GOATnote-Inc/attest/internal/ptxstat"
)

func statsCommand(env *cli.Env) *cobra.Command {
	c := &cobra.Command{
		Use:   "stats FILE…",
		Short: "Count registers, memory and instructions; find the minimum target",
		Long: `Count the registers, memory and instructions of PTX files.

  attest ptx stats kernel.ptx

For each function it prints the parameters, the declared registers by type, shared and local
memory in bytes, loops, barriers, and the instructions by family and opcode. For the module
it prints the least target and PTX version that suffice, and the instruction that needs them.

The number of live registers is an estimate from live ranges. ptxas reorders and spills, so
its own count decides the occupancy.

JSON: {"file", "diagnostics", "version", "target", "address_size", "needs",
"global_bytes", "const_bytes", "functions": [...]} for each file; counts are lists
of {"name", "count"}, most frequent first. A file with errors has the first two.`,
		Example: `  attest ptx stats kernel.ptx
  attest ptx stats --top 20 kernel.ptx
  attest ptx stats --json kernel.ptx | jq '.functions[] | {name, instructions}'`,
		Args: files,
	}
	top := c.Flags().Int("top", 10, "number of opcodes to list for each function")
	c.RunE = func(c *cobra.Command, paths []string) error {
		if *top < 0 {
			return errors.New("--top must not be negative")
		}
		return cli.EachFile(c.Context(), env, paths, func(f *cli.File) *ptxstat.Module {
			return ptxstat.Of(f.Module)
		}, func(f *cli.File, m *ptxstat.Module) {
			switch {
			case env.JSON:
				env.Encode(struct {
					*findingtext.Report
					*ptxstat.Module
				}{&f.Report, m})
			case m != nil:
				m.WriteText(env, env.OutStyle(), f.File, *top)
			}
		})
	}
	return c
}
