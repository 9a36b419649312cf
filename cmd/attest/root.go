package main

import (
	"context"
	"slices"

	"github.com/spf13/cobra"

	"github.com/GOATnote-Inc/attest/internal/cli"
	"github.com/GOATnote-Inc/attest/internal/version"
)

// rootCommand returns the whole command line. A new command is a file with a function like
// these and a line here or in its group.
func rootCommand(env *cli.Env) *cobra.Command {
	root := group("attest", "Judge, run and read GPU kernels as PTX text",
		`attest judges attention kernels for NVIDIA GPUs: its own kernels, and PTX from any
compiler. It needs no GPU and no CUDA.

  attest gate

attest gate measures resources, defects, errors and, on a GPU, times, and gives each kernel a
verdict. The other commands run one case, compare and profile kernels, search for faster
ones, and check, format and run any PTX file.

Exit codes: 0 success, 1 a file has errors or a result is wrong, 2 the command cannot run:
the command line is wrong or a file cannot be read, 3 an internal error: attest itself failed
and has saved the inputs.`,
		`  attest gate                                  judge all kernels of attest
  attest gate mine.ptx                         judge a kernel of your own
  attest run stage3b --shape 1,8,512,64        run one case and show its errors
  attest profile stage3b                       show where the time goes
  attest explain stage3b                       show what would make it faster
  attest ptx check kernel.ptx                  find errors in PTX
  attest exec kernel.ptx --launch launch.json --check all
                                               run any kernel and find races
  attest list                                  kernels, shapes and devices`)
	cobra.EnableCommandSorting = false // the order of the calls below is the order of the help
	root.SilenceErrors, root.SilenceUsage = true, true
	root.Version = version.This().Version // cobra has --version where this is set
	root.InitDefaultVersionFlag()
	root.Flags().Lookup("version").Usage = "print the version and the revision"
	cobra.AddTemplateFunc("attestVersion", func() string { return version.WithSource(context.Background()).String() })
	root.SetVersionTemplate("attest {{attestVersion}}\n")
	root.SetUsageTemplate(usageTemplate)
	root.SetFlagErrorFunc(flagError)
	root.SetIn(env.In)
	root.SetOut(env)
	root.SetErr(env.Err)
	flags := root.PersistentFlags()
	flags.BoolVar(&env.JSON, "json", false, "write JSON, one object per line; each command's help lists the fields")
	flags.Var(&env.Color, "color", "colour the output: auto, always or never; NO_COLOR turns auto off")
	flags.BoolVar(&env.Progress, "progress", false, "show progress on standard error even if it is not a terminal")
	addGroup(root, "Judge and measure kernels", gateCommand(env), mutateCommand(env), runCommand(env), profileCommand(env), explainCommand(env), diffCommand(env), benchCommand(env),
		compareCommand(env), tuneCommand(env), rivalCommand(env), calibrateCommand(env))
	addGroup(root, "Work with PTX", ptxCommand(env), execCommand(env), captureCommand(env), fuzzCommand(env), exportCommand(env), mcpCommand(env), watchCommand(env))
	addGroup(root, "Read the evidence", evidenceCommand(env), reportCommand(env))
	addGroup(root, "Look things up", listCommand(env), remoteCommand(env), doctorCommand(env), versionCommand(env), completionCommand(root), manCommand(env, root), releaseCommand(env, root))
	root.SetHelpCommandGroupID("Look things up")
	root.AddCommand(replicateCommand(env), agentCommand(env))
	for _, c := range root.Commands() {
		if slices.Contains(runElsewhere, c.Name()) {
			onFlags(c, env)
		}
	}
	return root
}

// addGroup adds commands that the help of root lists below a title.
func addGroup(root *cobra.Command, title string, commands ...*cobra.Command) {
	root.AddGroup(&cobra.Group{ID: title, Title: title})
	for _, c := range commands {
		c.GroupID = title
	}
	for _, c := range commands {
		if c.Parent() == nil {
			root.AddCommand(c)
		}
	}
}

// completionCommand returns the command that cobra makes for the completion of shells.
func completionCommand(root *cobra.Command) *cobra.Command {
	root.InitDefaultCompletionCmd("completion")
	c, _, err := root.Find([]string{"completion"})
	if err != nil {
		panic(err) // cobra did not make it
	}
	c.Short = "Print a script with which a shell completes commands, kernels and shapes"
	c.Long = `Print a script with which a shell completes commands, flags, kernels and shapes.

  source <(attest completion bash)

The help of the command for your shell says where to put the script.`
	asGroup(c)
	return c
}
