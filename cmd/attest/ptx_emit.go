package main

import (
	"fmt"
	"io"

	"github.com/spf13/cobra"

	"github.com/GOATnote-Inc/attest/internal/atomicfile"
	"github.com/GOATnote-Inc/attest/internal/campaign"
	"github.com/GOATnote-Inc/attest/internal/cli"
	"github.com/GOATnote-Inc/attest/internal/version"
	"github.com/GOATnote-Inc/attest/kernel/abi"
	"github.com/GOATnote-Inc/attest/problem"
)

func emitCommand(env *cli.Env) *cobra.Command {
	x := &emitter{env: env}
	c := &cobra.Command{
		Use:   "emit KERNEL",
		Short: "Print the PTX of a kernel of attest",
		Long: `Print the PTX of a kernel of attest, as the GPU's driver loads it.

  attest ptx emit stage3b -o stage3b.ptx

A name may have toggles: stage3a+swizzle. The text depends on --format, --output, --causal,
--lse, on the head dimension of --shape and, for hopper and decode, on all of --shape. A kernel
with a window, a soft cap, a scale or pages reads their values when it runs. --target chooses
the architecture. Without it, the stages are built for sm_89 and the designs for Hopper for
sm_90a.

-o and --abi write their files in one step and replace older ones. The file of --abi says
how the kernel is called. With both files, attest gate and every other command treat the
kernel like one of your own.

JSON: {"kernel", "target", "entries", "identity", "sha256", "ptx": the text, or the file of
-o}. "identity" is the hash of the text without comments, and of the call.`,
		Example: `  attest ptx emit stage3b | less
  attest ptx emit stage3a+swizzle --format u8 --target sm_80 -o swizzle.ptx
  attest ptx emit hopper --shape long -o k.ptx --abi k.json && attest gate k.ptx`,
		Args: arguments(1, "one KERNEL; attest list kernels shows the names"),
		RunE: func(_ *cobra.Command, args []string) error { return x.run(args) },
	}
	presetFlags(c, &x.Selection)
	shapeFlag(c, &x.shape, "mission", "what the kernel is written for")
	f := c.Flags()
	f.StringVar(&x.Target, "target", "", "architecture to build for: sm_80, sm_90a …; the default is the kernel's usual one")
	f.StringVarP(&x.out, "out", "o", "", "write the PTX to this `file` instead of standard output")
	f.StringVar(&x.abi, "abi", "", "also write the call of the kernel to this `file`")
	complete(c, "target", version.Targets()...)
	return c
}

// emitter is the ptx emit command.
type emitter struct {
	env *cli.Env
	campaign.Selection
	shape    problem.Named
	out, abi string
}

// emitted is the JSON of a kernel.
type emitted struct {
	Kernel   string   `json:"kernel"`
	Target   string   `json:"target"`
	Entries  []string `json:"entries"`
	Identity string   `json:"identity"`
	SHA256   string   `json:"sha256"`
	PTX      string   `json:"ptx"` // the text, or its file
}

func (x *emitter) run(names []string) error {
	s, err := x.OneFor(x.shape, names)
	if err != nil {
		return err
	}
	if x.abi != "" {
		call, err := abi.Write(s.Kernel)
		if err == nil {
			err = atomicfile.Write(x.abi, call)
		}
		if err != nil {
			return fmt.Errorf("--abi: %w", err)
		}
	}
	if x.out != "" {
		if err := atomicfile.Write(x.out, []byte(s.PTX)); err != nil {
			return fmt.Errorf("-o: %w", err)
		}
	}
	switch {
	case x.env.JSON:
		d := s.Describe()
		e := emitted{s.Name, d.Target, s.Entries(), d.Identity, d.SHA256, s.PTX}
		if x.out != "" {
			e.PTX = x.out
		}
		x.env.Encode(e)
	case x.out == "":
		_, err = io.WriteString(x.env, s.PTX)
	}
	return err
}
