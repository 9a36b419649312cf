package main

import (
	"github.com/spf13/cobra"

	"github.com/GOATnote-Inc/attest/internal/cli"
)

func ptxCommand(env *cli.Env) *cobra.Command {
	c := group("ptx", "Print, verify and format PTX",
		`Check, format and count PTX files from any compiler: nvcc, clang, Triton, or attest/build.
emit prints the PTX of a kernel of attest.

  attest ptx check kernel.ptx

FILE may be - for standard input. Several files are processed in parallel and reported in
order; a bad file does not stop the rest.`,
		`  attest ptx check *.ptx
  attest ptx stats --json kernel.ptx
  attest ptx fmt --check *.ptx
  attest ptx emit stage3b -o stage3b.ptx`)
	c.AddCommand(checkCommand(env), fmtCommand(env), statsCommand(env), emitCommand(env), layoutCommand(env), cudaHeaderCommand(env))
	return c
}
