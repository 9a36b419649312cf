package main

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/GOATnote-Inc/attest/fp8"
	"github.com/GOATnote-Inc/attest/internal/term"
	"github.com/GOATnote-Inc/attest/kernels/attn/hopper"
	"github.com/GOATnote-Inc/attest/lab"
	"github.com/GOATnote-Inc/attest/lab/abi"
	"github.com/GOATnote-Inc/attest/problem"
	"github.com/GOATnote-Inc/attest/record"
)

// kernelFlags are the flags of commands over kernels: presets by name, or PTX of any
// origin with a description of its parameters.
type kernelFlags struct {
	format string
	output string
	causal bool
	dim    int
	want   problem.Shape // what kernels for Hopper are written for; the mission's when zero
	ptx    string
	entry  string
	abi    string
}

// register adds the flags. The head dimension is one where no shape decides it.
func (k *kernelFlags) register(c *cobra.Command, withDim bool) {
	f := c.Flags()
	f.StringVar(&k.format, "format", "", "of Q, K and V, for presets: u8, u8-legacy, e4m3, e5m2; u8 when empty, e4m3 for Hopper's")
	f.StringVar(&k.output, "output", "f16", "of O, for presets: f16, bf16")
	f.BoolVar(&k.causal, "causal", false, "hide keys after the query, for presets that can: Hopper's")
	if withDim {
		f.IntVar(&k.dim, "head-dim", 0, "the head dimension, for presets: 64, 128; 0 takes that of --shapes, or 64")
	}
	f.StringVar(&k.ptx, "ptx", "", "a kernel from this PTX file, of any compiler, with --abi")
	f.StringVar(&k.entry, "entry", "", "the kernel in it; what --abi says when empty")
	f.StringVar(&k.abi, "abi", "", "how it is called: a JSON file as the package comment of attest/lab/abi describes")
	complete(c, "format", formats()...)
	complete(c, "output", "f16", "bf16")
	c.ValidArgsFunction = func(_ *cobra.Command, args []string, _ string) ([]string, cobra.ShellCompDirective) {
		return slices.DeleteFunc(presetNames(), func(n string) bool { return slices.Contains(args, n) }), cobra.ShellCompDirectiveNoFileComp
	}
}

// complete offers words for a flag to the shell.
func complete(c *cobra.Command, flag string, words ...string) {
	err := c.RegisterFlagCompletionFunc(flag, cobra.FixedCompletions(words, cobra.ShellCompDirectiveNoFileComp))
	if err != nil {
		panic(err) // there is no such flag
	}
}

func formats() (names []string) {
	for _, f := range []fp8.Format{fp8.U8, fp8.U8Legacy, fp8.E4M3, fp8.E5M2} {
		names = append(names, f.String())
	}
	return names
}

func presetNames() []string { return lab.Names() }

// misuse refuses flags that do not go together.
func (k *kernelFlags) misuse() error {
	switch {
	case k.ptx == "" && (k.abi != "" || k.entry != ""):
		return errors.New("--abi and --entry describe a kernel of --ptx, which is not given")
	case k.ptx != "" && k.abi == "":
		return errors.New("--ptx needs --abi: a JSON file that says what the parameters are; see go doc attest/lab/abi")
	case k.format != "" && !slices.Contains(formats(), k.format):
		return fmt.Errorf("--format %s: there are %s", k.format, strings.Join(formats(), ", "))
	case k.output != "f16" && k.output != "bf16":
		return fmt.Errorf("--output %s: there are f16 and bf16", k.output)
	case k.dim != 0 && k.dim != 64 && k.dim != 128:
		return fmt.Errorf("--head-dim %d: there are presets for 64 and 128", k.dim)
	}
	return nil
}

// subjects are the kernels that arguments and --ptx name, in that order.
func (k *kernelFlags) subjects(names []string) (list []*lab.Subject, err error) {
	for _, n := range names {
		s, err := k.preset(n)
		if err != nil {
			return nil, err
		}
		list = append(list, s)
	}
	if k.ptx != "" {
		s, err := k.external()
		if err != nil {
			return nil, err
		}
		list = append(list, s)
	}
	return list, nil
}

// one is the only kernel that arguments and --ptx name.
func (k *kernelFlags) one(c *cobra.Command, names []string) (*lab.Subject, error) {
	if err := k.misuse(); err != nil {
		return nil, err
	}
	list, err := k.subjects(names)
	if err == nil && len(list) != 1 {
		err = fmt.Errorf("%s given, want one; see %s --help", term.Count(len(list), "KERNEL"), c.CommandPath())
	}
	if err != nil {
		return nil, err
	}
	return list[0], nil
}

// preset is a kernel of ours by its name.
func (k *kernelFlags) preset(name string) (*lab.Subject, error) {
	if !slices.Contains(presetNames(), name) {
		hint := "attest list kernels shows them"
		if near := term.Nearest(name, presetNames()); near != "" {
			hint = fmt.Sprintf("did you mean %q?", near)
		} else if strings.HasSuffix(name, ".ptx") {
			hint = "files are named with --ptx FILE --abi ABI.json"
		}
		return nil, fmt.Errorf("there is no kernel %q; %s", name, hint)
	}
	return lab.Preset(name, k.choice())
}

func (k *kernelFlags) choice() lab.Choice {
	return lab.Choice{HeadDim: k.dim, Format: k.format, Output: k.output, Causal: k.causal, Shape: k.want}
}

// external is the kernel of --ptx.
func (k *kernelFlags) external() (*lab.Subject, error) {
	text, err := os.ReadFile(k.ptx)
	if err != nil {
		return nil, fmt.Errorf("--ptx: %w", err)
	}
	described, err := os.ReadFile(k.abi)
	if err != nil {
		return nil, fmt.Errorf("--abi: %w", err)
	}
	a, err := abi.Parse(k.abi, described)
	if err != nil {
		return nil, fmt.Errorf("--abi: %w", err)
	}
	if k.entry != "" {
		a.Entry = k.entry
	}
	s, err := lab.External(filepath.Base(k.ptx)+":"+a.Entry, string(text), a)
	if err != nil {
		return nil, fmt.Errorf("--ptx: %w", err)
	}
	return s, nil
}

// configured is the configuration of a kernel for Hopper, for titles: what is behind
// its name depends on the shape.
func configured(k record.Kernel) string {
	if _, err := hopper.FindDesign(k.Name); err != nil {
		return ""
	}
	return ", " + k.Config["config"]
}
