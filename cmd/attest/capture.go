package main

import (
	"errors"
	"fmt"
	"os/exec"
	"path/filepath"

	"github.com/spf13/cobra"

	"github.com/GOATnote-Inc/attest/internal/capture"
	"github.com/GOATnote-Inc/attest/internal/cli"
	"github.com/GOATnote-Inc/attest/internal/english"
	"github.com/GOATnote-Inc/attest/internal/term"
)

func captureCommand(env *cli.Env) *cobra.Command {
	o := capture.Options{Stdin: env.In, Stdout: env.Err, Stderr: env.Err}
	size := cli.Bytes(1 << 30)
	c := &cobra.Command{
		Use:   "capture [flags] -- COMMAND [ARGUMENT ...]",
		Short: "Record the kernel launches of a program as launch files",
		Long: `Run a program on a machine with a GPU and record the kernels that it launches: their PTX,
their parameters, and the memory that these point to, before and after each launch.

  attest capture -- python train.py
  attest exec capture/KERNEL.ptx --launch capture/LAUNCH.json --check all

The second command replays a launch on the emulator, on any machine, and compares its
memory bit by bit with what the GPU wrote. --check all looks for races and other defects.

Recorded are the Triton kernels of Python programs, also those that torch.compile writes.
Kernels that a library holds as machine code have no PTX and are not recorded. A launch that
cannot be recorded runs as always, and the list says why: a CUDA graph is being captured, a
parameter is a raw address, or the memory exceeds --bytes.

Saving memory waits for the GPU before and after each recorded launch, so times of the program
mean nothing. What the program prints goes to standard error.

The exit code is 1 when the program fails or no launch is recorded.

JSON: one object with these fields:

  "folder"    where the files are
  "launches"  a list of {"kernel", "launch", "ptx", "grid", "block", "shared", "bytes"}, or of
              {"kernel", "skipped"} for launches that were not recorded`,
		Example: `  attest capture -- python train.py
  attest capture --out softmax --kernel softmax --per-kernel 3 -- python -m pytest tests
  attest capture --json -- python train.py | jq -r '.launches[].launch'`,
		Args: func(_ *cobra.Command, args []string) error {
			if len(args) == 0 {
				return errors.New("no COMMAND is given: write it after --, as in attest capture -- python train.py")
			}
			return nil
		},
	}
	f := c.Flags()
	f.StringVar(&o.Out, "out", "capture", "folder for the launch files; it must be empty or missing")
	f.IntVar(&o.Limit, "limit", 100, "most launches to record")
	f.IntVar(&o.PerKernel, "per-kernel", 1, "most launches to record of one kernel")
	f.Var(&size, "bytes", "most memory of one launch, as in 512MiB")
	f.StringVar(&o.Kernel, "kernel", "", "regular expression for the names of the kernels to record; all when empty")
	c.RunE = func(c *cobra.Command, args []string) error {
		o.Bytes = int64(size)
		launches, err := capture.Run(c.Context(), o, args[0], args[1:]...)
		return showCapture(env, o.Out, launches, err)
	}
	return c
}

// showCapture lists what was recorded. failed is the error of the program, or nil.
func showCapture(env *cli.Env, folder string, launches []capture.Launch, failed error) error {
	var ended *exec.ExitError
	if failed != nil && !errors.As(failed, &ended) {
		return failed
	}
	recorded := 0
	for _, l := range launches {
		if l.Skipped == "" {
			recorded++
		}
	}
	if env.JSON {
		if launches == nil {
			launches = []capture.Launch{}
		}
		env.Encode(map[string]any{"folder": folder, "launches": launches})
	} else {
		printCapture(env, folder, launches, recorded)
	}
	switch {
	case ended != nil:
		fmt.Fprintf(env.Err, "attest: the program failed: %v\n", ended)
		return cli.Exit(cli.Red)
	case recorded == 0:
		fmt.Fprintln(env.Err, "attest: no launch was recorded: the program must launch Triton kernels from Python")
		return cli.Exit(cli.Red)
	}
	return nil
}

func printCapture(env *cli.Env, folder string, launches []capture.Launch, recorded int) {
	t := term.Table{Right: "lllrr", Style: env.OutStyle()}
	t.Head("kernel", "grid", "block", "MiB", "launch file")
	for _, l := range launches {
		if l.Skipped == "" {
			t.Row(term.Clean(l.Kernel), fmt.Sprint(l.Grid), fmt.Sprint(l.Block), fmt.Sprintf("%.2f", float64(l.Bytes)/(1<<20)), l.Launch)
		}
	}
	if recorded > 0 {
		t.WriteTo(env)
	}
	for _, l := range launches {
		if l.Skipped != "" {
			fmt.Fprintf(env, "not recorded: %s: %s\n", term.Clean(l.Kernel), term.Clean(l.Skipped))
		}
	}
	fmt.Fprintf(env, "%s in %s\n", english.Count(recorded, "launch"), folder)
	for _, l := range launches {
		if l.Skipped == "" {
			fmt.Fprintf(env, "replay one with attest exec %s --launch %s --check all\n", filepath.Join(folder, l.PTX), filepath.Join(folder, l.Launch))
			break
		}
	}
}
