package main

import (
	"context"
	"fmt"

	"github.com/spf13/cobra"

	"github.com/GOATnote-Inc/attest/internal/cli"
	"github.com/GOATnote-Inc/attest/internal/version"
)

// rootCommand returns the whole command line. A new command is a file with a function like
// these and a line here or in its group.
func rootCommand(env *cli.Env) *cobra.Command {
	root := group("attest", "Judge, run and read GPU kernels as PTX text",
		`attest judges attention kernels for NVIDIA GPUs, its own and those of any compiler, and
keeps the evidence. It also reads PTX, the text form of GPU programs: it says what is
wrong with it, counts what it is made of, and runs it. It needs no GPU and no CUDA.

Exit codes: 0 all is well, 1 a file or a result is bad, 2 the command line is.`,
		`  attest gate                          judge all kernels: resources, defects, errors, times
  attest gate --ptx mine.ptx --abi mine.json
  attest profile stage3b               where the time goes
  attest ptx check kernel.ptx          every error and warning, with its line
  attest ptx stats kernel.ptx          registers, memory, instructions, target
  attest ptx fmt -w kernel.ptx         rewrite in the normal form
  attest exec kernel.ptx --launch launch.json
  nvcc -ptx -o - kernel.cu | attest ptx check -`)
	root.SilenceErrors, root.SilenceUsage = true, true
	root.Version = version.This().Version // cobra has --version where this is set
	root.InitDefaultVersionFlag()
	root.Flags().Lookup("version").Usage = "print the version and the revision"
	cobra.AddTemplateFunc("attestVersion", func() string { return version.WithSource(context.Background()).String() })
	root.SetVersionTemplate("attest {{attestVersion}}\n")
	root.SetIn(env.In)
	root.SetOut(env)
	root.SetErr(env.Err)
	flags := root.PersistentFlags()
	flags.BoolVar(&env.JSON, "json", false, "write JSON, one object per line (see each command's help)")
	flags.Var(&env.Color, "color", "colour the output: auto, always or never; NO_COLOR turns auto off")
	flags.BoolVar(&env.Progress, "progress", false, "show progress on standard error even if it is not a terminal")
	root.SetFlagErrorFunc(func(c *cobra.Command, err error) error {
		return fmt.Errorf("%w; see %s --help", err, c.CommandPath())
	})
	root.AddCommand(ptxCommand(env), execCommand(env), fuzzCommand(env), versionCommand(env))
	root.AddCommand(rivalCommand(env), doctorCommand(env))
	root.AddCommand(evidenceCommand(env), reportCommand(env))
	root.AddCommand(listCommand(env), gateCommand(env), profileCommand(env), runCommand(env), benchCommand(env),
		compareCommand(env), tuneCommand(env), replicateCommand(env))
	return root
}

// group returns a command that only has other commands. Without one of them it shows its
// help and fails: a script that lost an argument must not look green.
func group(use, short, long, example string) *cobra.Command {
	return &cobra.Command{
		Use: use, Short: short, Long: long, Example: example,
		SuggestionsMinimumDistance: 2,
		Args: func(c *cobra.Command, args []string) error {
			if len(args) == 0 {
				return nil
			}
			hint := "see " + c.CommandPath() + " --help"
			if near := c.SuggestionsFor(args[0]); len(near) > 0 {
				hint = fmt.Sprintf("did you mean %q?", near[0])
			}
			return fmt.Errorf("unknown command %q for %q; %s", args[0], c.CommandPath(), hint)
		},
		RunE: func(c *cobra.Command, _ []string) error {
			c.SetOut(c.ErrOrStderr())
			if err := c.Help(); err != nil {
				return err
			}
			return cli.Exit(cli.Misuse)
		},
	}
}

// files checks the arguments of a command over files.
func files(c *cobra.Command, args []string) error {
	if len(args) == 0 {
		return fmt.Errorf("no FILE is given (- is standard input); see %s --help", c.CommandPath())
	}
	return nil
}
