package main

import (
	"fmt"

	"github.com/spf13/cobra"

	"github.com/GOATnote-Inc/attest/internal/cli"
	"github.com/GOATnote-Inc/attest/internal/english"
	"github.com/GOATnote-Inc/attest/internal/findingtext"
	"github.com/GOATnote-Inc/attest/ptx/verify"
)

func checkCommand(env *cli.Env) *cobra.Command {
	c := &cobra.Command{
		Use:   "check FILE…",
		Short: "Parse and verify PTX: every error and warning",
		Long: `Parse PTX and report every error and warning.

  attest ptx check kernel.ptx

It checks names, types of operands and registers, instruction forms against .target and
.version, control flow, barriers in divergent branches, uninitialised registers, and the
limits of a launch.

An error is PTX that ptxas refuses, or that cannot work. A warning is legal PTX that is very
likely a mistake. Findings go to standard error, each with its line of PTX and, where .loc
gives one, its line of source. The exit code is 1 for errors.

JSON: {"file", "diagnostics": [{"line", "column", "severity", "kind", "message",
"function", "source"}], "errors", "warnings"} for each file.`,
		Example: `  attest ptx check kernel.ptx
  attest ptx check --werror *.ptx      for CI: warnings fail too
  attest ptx check --json kernel.ptx | jq '.diagnostics[].message'
  nvcc -ptx -o - kernel.cu | attest ptx check -`,
		Args: files,
	}
	werror := c.Flags().Bool("werror", false, "warnings fail too")
	c.RunE = func(c *cobra.Command, paths []string) error {
		total := checked{strict: *werror}
		err := cli.EachFile(c.Context(), env, paths, func(f *cli.File) struct{} {
			f.Add(verify.Check(f.Module)...)
			return struct{}{}
		}, func(f *cli.File, _ struct{}) {
			one := total.add(f)
			if one.bad() {
				f.Raise(cli.Red)
			}
			if env.JSON {
				env.Encode(one)
			}
		})
		if !env.JSON && len(paths) == total.files {
			total.print(env)
		}
		return err
	}
	return c
}

// checked is the result for one file, and the sum over several.
type checked struct {
	*findingtext.Report
	Errors   int  `json:"errors"`
	Warnings int  `json:"warnings"`
	strict   bool // warnings fail too
	files    int
	entries  int
	funcs    int
}

func (c *checked) bad() bool { return c.Errors > 0 || c.strict && c.Warnings > 0 }

// add counts a file and returns its own numbers.
func (c *checked) add(f *cli.File) *checked {
	one := &checked{Report: &f.Report, strict: c.strict}
	one.Errors, one.Warnings = f.Count()
	c.Errors += one.Errors
	c.Warnings += one.Warnings
	c.files++
	if f.Module != nil {
		for _, fn := range f.Module.Funcs() {
			if fn.Entry {
				c.entries++
			} else {
				c.funcs++
			}
		}
	}
	return one
}

// print writes the summary line.
func (c *checked) print(env *cli.Env) {
	s := env.OutStyle()
	verdict := s.Green("ok")
	switch {
	case c.bad():
		verdict = s.Red("bad")
	case c.Warnings > 0:
		verdict = s.Yellow("ok")
	}
	what := english.Count(c.files, "file") + ", " + english.Count(c.entries, "kernel")
	if c.funcs > 0 {
		what += ", " + english.Count(c.funcs, "device function")
	}
	fmt.Fprintf(env, "%s: %s: %s, %s\n", verdict, what, english.Count(c.Errors, "error"), english.Count(c.Warnings, "warning"))
}
