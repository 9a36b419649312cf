package main

import (
	"regexp"
	"slices"

	"github.com/spf13/cobra"

	"github.com/GOATnote-Inc/attest/internal/archive"
	"github.com/GOATnote-Inc/attest/internal/campaign"
	"github.com/GOATnote-Inc/attest/internal/cli"
	"github.com/GOATnote-Inc/attest/internal/report"
	"github.com/GOATnote-Inc/attest/kernels"
)

func compareCommand(env *cli.Env) *cobra.Command {
	x := &campaign.Compare{}
	kept := &archive.Archive{Env: env}
	c := &cobra.Command{
		Use:   "compare A B",
		Short: "Compare two kernels: resources, errors, counters, times",
		Long: `Compare two kernels by their resources, errors, counters and times.

  attest compare stage2 stage3b

On a GPU the two are timed interleaved, in one run. Without a GPU the times are PREDICTED, and
two tables say where the difference in time arises: by what the SMs do or wait for, and by
phase (see attest profile --help).
A PTX file is a KERNEL, too, as in compare stage3b mine.ptx.

If A and B are hashes, compare shows the difference between two records of the evidence, as
attest evidence diff does, and measures nothing.

The exit code is 1 when the output of a kernel is wrong, else 0, whichever kernel is faster.

JSON: {"a", "b": the records, "difference": {"kernel", "build", "resources", "errors",
"times", …}, "predicted": {"a", "b", "difference": {"us", "reasons", "phases"}} or null}. A
reason or a phase is {"name", "a", "b", "difference": B - A in microseconds, "mostly"}.`,
		Example: `  attest compare stage2 stage3b
  attest compare stage3b stage5 --shape long --format u8
  attest compare stage3b mine.ptx
  attest compare 3f9a2c 81c0de --evidence ~/h200`,
		RunE: func(c *cobra.Command, args []string) error {
			if len(args) == 2 && isHash(args[0]) && isHash(args[1]) {
				return compareKept(kept, args)
			}
			return x.Run(c.Context(), env, args)
		},
	}
	kernelFlags(c, &x.Selection)
	deviceFlag(c, &x.Name)
	againstFlags(c, &x.Campaign)
	shapeFlag(c, &x.Shape, "mission", "what is timed")
	archiveFlag(c, kept)
	return c
}

var hashLike = regexp.MustCompile(`^[0-9a-f]{4,64}$`)

// isHash reports whether an argument is the hash of a record, or its first letters.
func isHash(arg string) bool {
	return hashLike.MatchString(arg) && !slices.Contains(kernels.Names(), arg)
}

// compareKept compares two records of the evidence.
func compareKept(kept *archive.Archive, hashes []string) error {
	items, err := kept.Items(hashes...)
	if err != nil {
		return err
	}
	r := &campaign.CompareResult{A: items[0].Record, B: items[1].Record, Difference: report.Diff(items[0], items[1])}
	r.Show(kept.Env)
	return nil
}
