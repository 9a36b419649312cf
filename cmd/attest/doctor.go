package main

import (
	"github.com/spf13/cobra"

	"github.com/GOATnote-Inc/attest/internal/cli"
	"github.com/GOATnote-Inc/attest/internal/doctor"
	"github.com/GOATnote-Inc/attest/internal/gpus"
	"github.com/GOATnote-Inc/attest/internal/version"
)

func doctorCommand(env *cli.Env) *cobra.Command {
	return &cobra.Command{
		Use:   "doctor",
		Short: "Show what this machine can do and which tools are missing",
		Long: `Show what this machine can do for attest, and what you lose without the tools that are
missing.

  attest doctor

It lists the targets of the emulator, the GPUs and their state (clocks, power,
temperature, why they are slowed), the tools ptxas, nvdisasm, cuobjdump, ncu,
compute-sanitizer and nvcc, and Python with torch, flash_attn_3, triton and jax.

Everything is optional, so the exit code is always 0. doctor only reads the state of a GPU
and never changes it. ATTEST_PYTHON names a Python other than the one on PATH.

JSON: one object with these fields:

  "emulator"          the architectures that it runs
  "gpus", "gpu_note"  a list of {"index", "name", "target", "memory", "driver", "state", …},
                      and why it is empty
  "tools"             a list of {"name", "path", "version", "note"}
  "python"            {"path", "version", "modules", "note"}
  "lacks"             a list of {"what", "cost"}: what is missing, and what does not work then`,
		Example: "  attest doctor\n  attest doctor --json | jq '.lacks[].what'",
		Args:    noArgs,
		RunE: func(c *cobra.Command, _ []string) error {
			progress := env.StartProgress()
			defer progress.Stop()
			r, err := doctor.Examine(c.Context(), doctor.Machine{Emulator: version.Targets(), GPUs: gpus.List, Say: progress.Say})
			if err != nil {
				return err
			}
			progress.Print(func() {
				if env.JSON {
					env.Encode(r)
				} else {
					r.WriteText(env, env.OutStyle())
				}
			})
			return nil
		},
	}
}
