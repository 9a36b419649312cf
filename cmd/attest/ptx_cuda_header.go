package main

import (
	_ "embed"
	"io"

	"github.com/spf13/cobra"

	"github.com/GOATnote-Inc/attest/internal/cli"
)

//go:embed attest_cuda.h
var cudaHeader string

func cudaHeaderCommand(env *cli.Env) *cobra.Command {
	return &cobra.Command{
		Use:   "cuda-header",
		Short: "Print a header with which clang compiles CUDA C++ to PTX without CUDA",
		Long: `Print a header with which clang compiles CUDA C++ to PTX on a machine without CUDA.

  attest ptx cuda-header > attest_cuda.h
  clang -x cuda --cuda-device-only --cuda-gpu-arch=sm_80 -nocudainc -nocudalib \
    -include attest_cuda.h -O2 -gline-tables-only -S -o kernel.ptx kernel.cu

The header has what kernels use most: qualifiers such as __global__, vector types, thread
indices, barriers, fences, asynchronous copies, shuffles, atomicAdd, and arithmetic such as
expf, as nvcc -use_fast_math computes it. It has no textures, no host functions and no types
of half precision. clang 14 to 19 were tried; only clang 17 and later know sm_90a.

-gline-tables-only makes findings name the line of the source. Declare kernels extern "C",
or their entries get names such as _Z5scalePf.`,
		Example: "  attest ptx cuda-header > attest_cuda.h",
		Args:    noArgs,
		RunE: func(*cobra.Command, []string) error {
			_, err := io.WriteString(env, cudaHeader)
			return err
		},
	}
}
