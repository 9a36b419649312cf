package main

import (
	"fmt"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/GOATnote-Inc/attest/internal/catalogue"
	"github.com/GOATnote-Inc/attest/internal/cli"
	"github.com/GOATnote-Inc/attest/internal/term"
)

func listCommand(env *cli.Env) *cobra.Command {
	return &cobra.Command{
		Use:   "list [" + strings.Join(catalogue.Lists, "|") + "]",
		Short: "List kernels, presets, shapes, distributions and devices",
		Long: `List what the other commands work with. Without an argument: all of it.

  attest list kernels

kernels        the kernels of attest, with the idea of each and the one it builds on
presets        their configurations, threads and shared memory, for each head dimension
toggles        what a kernel's name can change: stage3a+swizzle+tile-n=32
shapes         the shapes that have names
distributions  the distributions of inputs
devices        emulators and GPUs of this machine, and the chips that profile and tune
               know the throughputs of

JSON: {"kernels": [{"name", "base", "idea"}], "presets": [{"name", "head_dim",
"config", "threads", "shared", "target"}], "toggles": [{"family", "name", "values", "what"}], "shapes": [{"name", "shape",
"gflop"}], "distributions": [{"name", "what"}], "devices": [{"name", "what"}],
"chips": [{"name", "target", "sms", "mhz"}]}, as far as they were asked for.`,
		Example: `  attest list
  attest list kernels
  attest list presets --json | jq -r '.presets[] | [.name, .config] | @tsv'`,
		ValidArgs: catalogue.Lists,
		Args: func(c *cobra.Command, args []string) error {
			for _, a := range args {
				if !slices.Contains(catalogue.Lists, a) {
					hint := "there are " + strings.Join(catalogue.Lists, ", ")
					if near := term.Nearest(a, catalogue.Lists); near != "" {
						hint = fmt.Sprintf("did you mean %q?", near)
					}
					return fmt.Errorf("there is no list of %q; %s", a, hint)
				}
			}
			return nil
		},
		RunE: func(_ *cobra.Command, args []string) error {
			if len(args) == 0 {
				args = catalogue.Lists
			}
			progress := env.StartProgress()
			defer progress.Stop()
			list, err := catalogue.New(progress.Say, args...)
			if err != nil {
				return err
			}
			progress.Print(func() {
				if env.JSON {
					env.Encode(list)
				} else {
					list.WriteText(env, env.OutStyle(), term.Width(env.Out), len(args) > 1)
				}
			})
			return nil
		},
	}
}
