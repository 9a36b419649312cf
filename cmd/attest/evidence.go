package main

import (
	"errors"
	"fmt"
	"strings"

	"github.com/spf13/cobra"

	"github.com/GOATnote-Inc/attest/internal/archive"
	"github.com/GOATnote-Inc/attest/internal/cli"
	"github.com/GOATnote-Inc/attest/internal/english"
	"github.com/GOATnote-Inc/attest/internal/shapes"
	"github.com/GOATnote-Inc/attest/record"
)

func evidenceCommand(env *cli.Env) *cobra.Command {
	x := &archive.Archive{Env: env}
	c := group("evidence", "List, show, verify, compare, export and import records and verdicts",
		`Work with the records of what was measured and the verdicts on them.

  attest evidence list

Records and verdicts are JSON files in a folder: .attest in the current directory, or the
folder that --evidence names. The name of a file is the SHA-256 of its content. A log chains
the files: each entry has the hash of the entry before it, so verify finds a file that was
edited, removed or renamed. attest never changes or removes a file.

HASH is the hash of a record or a verdict, or its first letters.`,
		`  attest evidence list --outcome MERGE
  attest evidence show 3f9a
  attest evidence verify
  attest evidence diff 3f9a 81c0
  attest evidence note 3f9a --lesson "the exponentials hide behind the products"
  attest evidence export h200.tar.gz      one file, to bring home
  attest evidence import h200.tar.gz
  cat .attest/log/*.json | jq .           the log, without attest
  sha256sum .attest/objects/*/*           the names are the sums`)
	archiveFlag(c, x)
	c.AddCommand(evidenceList(x), evidenceShow(x), evidenceVerify(x), evidenceDiff(x), evidenceExport(x), evidenceImport(x), evidenceNote(x), evidenceHeads(x), evidenceKeygen(x))
	return c
}

// archiveFlag says where evidence is looked up.
func archiveFlag(c *cobra.Command, x *archive.Archive) {
	lookupFlag(c, &x.Dir)
	x.Named = func() bool { return c.PersistentFlags().Changed("evidence") }
}

// arguments checks the number of arguments: exactly n, or at least 1 when n is 0.
func arguments(n int, what string) cobra.PositionalArgs {
	return func(c *cobra.Command, args []string) error {
		if len(args) == n && n > 0 || n == 0 && len(args) > 0 {
			return nil
		}
		return fmt.Errorf("%s given, want %s; see %s --help", english.Are(len(args), "argument"), what, c.CommandPath())
	}
}

func evidenceNote(x *archive.Archive) *cobra.Command {
	var n record.Note
	var file string
	c := &cobra.Command{
		Use:   "note HASH",
		Short: "Add what was learned from a record",
		Long: `Add a note to a record: what was expected, why it came out as it did, and what follows
from it. Notes are appended to the evidence and never changed; the page and attest evidence
show print them with the record.

  attest evidence note 3f9a --root-cause "one block per SM" --lesson "count blocks first"

With --file, add the notes of a JSON file to every record that they are about, for example
after new records were imported. A record does not get the same note twice.

  attest evidence note --file evidence/notes.json --evidence evidence

The file is {"notes": [{"kernel", "outcome", "baseline", "device", "hypothesis",
"root_cause", "lesson", "recommendation", "rises", "falls", "same"}]}. A note is about the
records of "kernel" whose newest verdict is "outcome" (VALID-NEGATIVE when absent), against
"baseline" and on "device" (a chip such as H200) where given. "rises", "falls" and "same"
name counters of the record. The kernel's counter must be above, below or equal to that of
the baseline, or the note does not fit and the exit code is 1. The values are taken from the
record and added to the root cause, so the texts need no numbers.

JSON: {"note", "record"}, two hashes. With --file, one object per note and record:
{"kernel", "record", "note", "result", "why"}; "result" is "added", "present", "does not
fit" or "no record".`,
		Example: `  attest evidence note 3f9a --hypothesis "P in the buffer of the scores saves shared memory"
  attest evidence note 3f9a --recommendation "try it on a chip with 100 KiB per SM"`,
		Args: func(c *cobra.Command, args []string) error {
			if file == "" {
				return arguments(1, "one HASH")(c, args)
			}
			if len(args) > 0 || len(n.Parts()) > 0 {
				return errors.New("--file names the records and the texts itself: leave out HASH and the other flags")
			}
			return nil
		},
		RunE: func(_ *cobra.Command, args []string) error {
			if file != "" {
				return x.NoteFile(file)
			}
			return x.Note(args[0], n)
		},
	}
	f := c.Flags()
	f.StringVar(&file, "file", "", "JSON file with notes and the kernels that they are about")
	f.StringVar(&n.Hypothesis, "hypothesis", "", "what was expected, and why")
	f.StringVar(&n.RootCause, "root-cause", "", "why it came out as it did")
	f.StringVar(&n.Lesson, "lesson", "", "what was learned")
	f.StringVar(&n.Recommendation, "recommendation", "", "what to do next")
	return c
}

func evidenceList(x *archive.Archive) *cobra.Command {
	var f archive.Filter
	var shape shapes.One
	c := &cobra.Command{
		Use:   "list",
		Short: "List the records with their verdicts",
		Long: `List the records, the oldest first, with their newest verdicts.

  attest evidence list --kernel stage3b

Damaged files are listed on standard error and make the exit code 1; all other records are
still listed.

JSON, one object per record: {"hash", "seq", "time", "kernel", "ptx", "format", "target",
"device", "shapes", "outcome", "why", "verdict"}; outcome, why and verdict (a hash) are
"" for a record without a verdict.`,
		Example: "  attest evidence list\n  attest evidence list --kernel stage3b --shape mission\n  attest evidence list --outcome reject --json | jq -r .hash",
		Args:    noArgs,
		RunE: func(*cobra.Command, []string) error {
			f.Shape = shape.Shape
			return x.List(f)
		},
	}
	flags := c.Flags()
	flags.StringVar(&f.Kernel, "kernel", "", "only kernels whose name contains this")
	flags.StringVar(&f.Outcome, "outcome", "", "only this outcome: "+strings.Join(archive.Outcomes(), ", "))
	flags.Var(&shape, "shape", "only records with this shape: "+shapes.Help)
	explainShapes(c)
	complete(c, "shape", shapes.Names()...)
	complete(c, "outcome", archive.Outcomes()...)
	return c
}

func evidenceShow(x *archive.Archive) *cobra.Command {
	var to archive.Folders
	c := &cobra.Command{
		Use:   "show HASH",
		Short: "Show one record or verdict in full",
		Long: `Show a record with the verdicts on it, a verdict with the record that it judged, or a
mutation score.

  attest evidence show 3f9a

With --kernel, write the kernel of the record to a folder instead, so that it can be run
again: its PTX as kernel.ptx and its call as kernel.json.

With --split, write the record to a folder as three JSON files for other tools:

  build_meta.json           toggles, architecture, command, git commit, device, versions, time,
                            resources and the output of ptxas -v
  correctness_summary.json  for each shape, seed and distribution: max_abs_err, mean_abs_err,
                            the share of errors above the tolerance in per cent, and whether
                            the case passes
  perf_baseline.json        for each shape and method: p50, p90, mean, std, min and max in
                            microseconds, cv, and the speedup over the baseline

Files that exist are not replaced: then no file is written.

JSON: {"hash", "kind", "seq", "object", "verdicts", "notes"}. "kind" is "record", "verdict",
"note" or "score", "object" is what the file holds, "verdicts" and "notes" are the hashes of those
that belong to a record.
With --kernel: {"kernel", "ptx", "abi"}, the name and the two files.
With --split: {"record", "files"}.`,
		Example: "  attest evidence show 3f9a\n  attest evidence show 3f9a --json | jq .object.performance\n  attest evidence show 3f9a --kernel again && attest gate again/kernel.ptx\n  attest evidence show 3f9a --split results",
		Args:    arguments(1, "one hash, or its first letters, as attest evidence list shows them"),
		RunE:    func(_ *cobra.Command, args []string) error { return x.Show(args[0], to) },
	}
	c.Flags().StringVar(&to.Kernel, "kernel", "", "write the kernel of the record to this `folder`")
	c.Flags().StringVar(&to.Split, "split", "", "write the record as three JSON files to this `folder`")
	return c
}

func evidenceDiff(x *archive.Archive) *cobra.Command {
	return &cobra.Command{
		Use:   "diff A B",
		Short: "Compare two records",
		Long: `Compare two records.

  attest evidence diff 3f9a 81c0

It shows configuration, build and verdict where they differ, and the resources, errors and
median times of both with the ratio of B to A. The hash of a verdict selects the record that
it judges. Times from two runs do not prove a difference; attest compare times both kernels in
one run. The exit code is 0 whether the records differ or not.

JSON: one object with these fields; a number that one of them lacks is null:

  "a", "b"                        the hashes
  "same_ptx", "same_kernel"       whether text, or text and call, are equal
  "parity"                        cases with the same bits
  "kernel", "build", "outcome"    lists of {"what", "a", "b"}
  "resources", "errors", "times"  lists of {"what", "a", "b", "ratio"}`,
		Example: "  attest evidence diff 3f9a 81c0\n  attest evidence diff 3f9a 81c0 --json | jq '.times[] | select(.ratio < 0.9)'",
		Args:    arguments(2, "two hashes, or their first letters, as attest evidence list shows them"),
		RunE:    func(_ *cobra.Command, args []string) error { return x.Diff(args[0], args[1]) },
	}
}

func evidenceExport(x *archive.Archive) *cobra.Command {
	return &cobra.Command{
		Use:   "export FILE",
		Short: "Write all evidence as one file",
		Long: `Write all records and verdicts as one file, for example to copy them from a machine with a
GPU.

  attest evidence export h200.tar.gz

The file is a compressed tar of the folder. attest evidence import adds it to another
folder, where the hashes stay the same. Damaged evidence is refused. - is standard output.

JSON: {"records", "verdicts", "remarks", "scores", "head", "bytes"}; head is the hash of the
newest entry, which verify shows too. It goes to standard error when the file is standard output.`,
		Example: `  attest evidence export h200.tar.gz
  ssh box attest/attest evidence export - --evidence attest/.attest > h200.tar.gz
  attest evidence import h200.tar.gz && attest evidence verify`,
		Args: arguments(1, "a file to write"),
		RunE: func(_ *cobra.Command, args []string) error { return x.Export(args[0]) },
	}
}

func evidenceImport(x *archive.Archive) *cobra.Command {
	return &cobra.Command{
		Use:   "import FOLDER|FILE…",
		Short: "Add the evidence of other folders or exports",
		Long: `Add the records and verdicts of other folders of evidence, or of files that attest evidence
export or tar wrote, in the given order.

  attest evidence import h200.tar.gz

- is standard input. Records that are present are not added again. A damaged folder or file is
refused, and the import stops there.

JSON, one object per folder or file: {"from", "records", "verdicts", "remarks", "scores",
"known"}: how many were added, and how many were present already.`,
		Example: `  attest evidence import h200.tar.gz
  attest evidence import monday.tar.gz tuesday.tar.gz
  ssh box attest/attest evidence export - | attest evidence import -
  scp -r box:attest/.attest /tmp/box && attest evidence import /tmp/box`,
		Args: arguments(0, "a folder of evidence or an export"),
		RunE: func(_ *cobra.Command, args []string) error { return x.Import(args...) },
	}
}
