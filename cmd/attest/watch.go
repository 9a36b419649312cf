package main

import (
	"context"
	"errors"
	"os"
	"os/exec"
	"slices"
	"time"

	"github.com/spf13/cobra"

	"github.com/GOATnote-Inc/attest/internal/cli"
	"github.com/GOATnote-Inc/attest/internal/english"
	"github.com/GOATnote-Inc/attest/internal/term"
	"github.com/GOATnote-Inc/attest/internal/watch"
)

// watched lists the commands that attest watch repeats.
var watched = []string{"gate", "exec", "run", "diff", "profile", "explain", "ptx"}

func watchCommand(env *cli.Env) *cobra.Command {
	w := &watch.Watcher{Now: time.Now}
	c := &cobra.Command{
		Use:   "watch COMMAND [ARGUMENT…]",
		Short: "Repeat a command when its files change, and show what changed in its output",
		Long: `Repeat a command when one of its files changes, and show what changed in its output since the
last run: lines that are gone with -, new lines with +.

  attest watch gate mine.ptx --plan smoke

COMMAND is gate, exec, run, diff, profile, explain or ptx. watch follows the files on the command
line, the JSON file beside a PTX file, the Go files of a package, and the files that a launch file
names. Put the flags of watch before COMMAND. Ctrl-C ends it.`,
		Example: `  attest watch gate mine.ptx --plan smoke
  attest watch gate ./mypkg.Kernel --plan smoke
  attest watch exec kernel.ptx --launch launch.json --check all
  attest watch --every 1s ptx check kernel.ptx`,
		Args: func(c *cobra.Command, args []string) error {
			if len(args) == 0 || !slices.Contains(watched, args[0]) {
				return errors.New("give the command to repeat: " + english.List(watched) + "; see attest watch --help")
			}
			return nil
		},
		RunE: func(c *cobra.Command, args []string) error {
			self, err := os.Executable()
			if err != nil {
				return err
			}
			style := env.OutStyle()
			if style.On {
				args = append(slices.Clone(args), "--color=always")
			}
			w.Args, w.Out = args, env
			w.Mark = func(line string, added bool) string {
				if added {
					return style.Green(line)
				}
				return style.Red(line)
			}
			w.Run = func(ctx context.Context) (string, int, error) { return repeat(ctx, self, args, env) }
			return w.Watch(c.Context())
		},
	}
	f := c.Flags()
	f.SetInterspersed(false) // flags behind COMMAND belong to it
	f.DurationVar(&w.Every, "every", 300*time.Millisecond, "how often the files are looked at")
	f.IntVar(&w.Runs, "runs", 0, "end after so many runs; 0 is no limit")
	return c
}

// repeat runs the command once. A process of its own frees all memory of a run, and a crash does
// not end the watch.
func repeat(ctx context.Context, self string, args []string, env *cli.Env) (string, int, error) {
	progress := env.StartProgress()
	defer progress.Stop()
	progress.Say("running attest %s", term.Clean(args[0]))
	c := exec.CommandContext(ctx, self, args...)
	c.Args[0] = "attest"
	out, err := c.CombinedOutput()
	var exit *exec.ExitError
	switch {
	case ctx.Err() != nil:
		return "", 0, ctx.Err()
	case errors.As(err, &exit):
		return string(out), exit.ExitCode(), nil
	}
	return string(out), 0, err
}
