package main

import (
	"fmt"
	"strings"

	"github.com/spf13/cobra"

	"github.com/GOATnote-Inc/attest/internal/cli"
	"github.com/GOATnote-Inc/attest/internal/layouts"
)

func layoutCommand(env *cli.Env) *cobra.Command {
	c := &cobra.Command{
		Use:   "layout [NAME]",
		Short: "Show which lane and register hold each element of a matrix instruction",
		Long: `Show which lane and register hold each element of a matrix instruction, or where a
swizzle puts each unit of 16 bytes.

  attest ptx layout mma.m16n8k16

NAME is mma, mma.sp, wmma, wgmma or wgmma.sp with a shape and, if you like, the type of
the factors; ldmatrix.x4 with or without .trans; or swizzle.128b. A whole opcode of PTX works
too. Without NAME it lists the layouts.

In a cell, T5 a1 means register 1 of operand a in lane 5. A header has one C function for
the row and one for the column of an element.

JSON: {"name", "notes", "matrices": [{"name", "what", "rows", "cols", "lanes", "registers",
"held": by row and column the list of {"lane", "register", "part"}}]}.`,
		Example: `  attest ptx layout wmma.m16n16k16.f16
  attest ptx layout mma.sync.aligned.m16n8k32.row.col.f32.e4m3.e4m3.f32 --lane 5
  attest ptx layout mma.sp.m16n8k32.f16
  attest ptx layout wgmma.m64n128k32.e4m3 --as svg > wgmma.svg
  attest ptx layout swizzle.128b --as header > swizzle.h`,
		Args: cobra.MaximumNArgs(1),
	}
	as := c.Flags().String("as", "table", "what to write: table, svg or header")
	lane := c.Flags().Int("lane", -1, "list what this lane holds, instead of the whole table")
	c.RunE = func(c *cobra.Command, args []string) error {
		if len(args) == 0 {
			if env.JSON {
				env.Encode(map[string]any{"layouts": layouts.Names("")})
				return nil
			}
			_, err := fmt.Fprintln(env, strings.Join(layouts.Names(""), "\n"))
			return err
		}
		p, err := layouts.Find(args[0])
		if err != nil {
			return err
		}
		switch {
		case env.JSON:
			env.Encode(p)
			return nil
		case *lane >= 0 || c.Flags().Changed("lane"):
			return p.WriteLane(env, *lane)
		case *as == "svg":
			return p.WriteSVG(env)
		case *as == "header":
			return p.WriteHeader(env)
		case *as == "table":
			p.WriteText(env, env.OutStyle())
			return nil
		}
		return fmt.Errorf("--as %s: use table, svg or header", *as)
	}
	return c
}
