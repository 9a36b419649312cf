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
		Short: "List kernels, presets, toggles, shapes, distributions and devices",
		Long: `List the names that the other commands understand.

  attest list kernels

Without an argument it prints all lists:

  kernels        the kernels of attest, the kernel that each one builds on, and its idea
  presets        the configuration of each kernel and head dimension, its threads and its
                 shared memory in bytes
  toggles        the decisions that can be changed in a name: stage3a+swizzle+tile-n=32
  shapes         the shapes that have names, and their work in GFLOP
  distributions  the distributions of inputs
  devices        the emulators and GPUs of this machine, and the chips that attest profile
                 and attest tune can predict times for

JSON: one object with the lists that were asked for:

  "kernels"        of {"name", "base", "idea"}
  "presets"        of {"name", "head_dim", "config", "threads", "shared", "target"}
  "toggles"        of {"family", "name", "values", "what"}
  "shapes"         of {"name", "shape", "gflop"}
  "distributions"  of {"name", "what"}
  "devices"        of {"name", "what"}
  "chips"          of {"name", "target", "sms", "mhz"}`,
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
