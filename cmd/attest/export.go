package main

import (
	"errors"
	"fmt"
	"os"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/GOATnote-Inc/attest/evidence"
	"github.com/GOATnote-Inc/attest/internal/atomicfile"
	"github.com/GOATnote-Inc/attest/internal/campaign"
	"github.com/GOATnote-Inc/attest/internal/chips"
	"github.com/GOATnote-Inc/attest/internal/cli"
	"github.com/GOATnote-Inc/attest/internal/english"
	"github.com/GOATnote-Inc/attest/internal/export"
	"github.com/GOATnote-Inc/attest/internal/term"
	"github.com/GOATnote-Inc/attest/internal/version"
	"github.com/GOATnote-Inc/attest/problem"
)

func exportCommand(env *cli.Env) *cobra.Command {
	c := group("export", "Write kernels for PyTorch, CuPy, C and other programs",
		`Write kernels of attest as one file for another program. You compile nothing: the GPU's driver
compiles the PTX in the file.

  attest export torch -o attest_attention.py

Each file contains its licence, the version of attest, the hashes of its kernels, and the records
in which they were measured. attest evidence verify --export FILE checks a file against them.`,
		`  attest export torch --chip H100 -o attest_attention.py
  attest export c --chip L4 --head-dim 128 -o attest_attention.h
  attest export ptx hopper --shape long > hopper.json
  attest evidence verify --export attest_attention.py`)
	c.AddCommand(exportFamily(env, "torch", "Write a Python file for PyTorch",
		`Write a Python file with FP8 attention for PyTorch.

  attest export torch --chip H100 -o attest_attention.py

The file needs PyTorch and the NVIDIA driver. It has attention for FP8 tensors, the operator
torch.ops.attest.attention, quantize, and scaled_dot_product_attention with the arguments of
PyTorch. It runs on the current stream, under torch.compile and in CUDA graphs.

--batch names the layouts of sequences: attention_varlen takes packed sequences, and
attention_with_kvcache takes a padded or paged cache. --lse, --softcap and --sinks add kernels with
these features, and --mask window adds sliding windows. Windows, soft caps and sinks need a batch
other than uniform.`),
		exportFamily(env, "cupy", "Write a Python file for CuPy",
			`Write a Python file with FP8 attention for CuPy. It has attention and quantize.

  attest export cupy --chip H100 --output f16 -o attest_attention.py`),
		exportFamily(env, "c", "Write a C header",
			`Write a C header with FP8 attention. It needs cuda.h and the driver, but no CUDA compiler. The
comment at its top shows the calls.

  attest export c --chip H100 -o attest_attention.h`),
		exportPTX(env))
	return c
}

// exporter is an export command.
type exporter struct {
	env      *cli.Env
	out      string
	evidence string

	// of families
	format, chip   string
	outputs, masks []string
	headDims       []string
	batches        []string
	lse            bool
	softcap, sinks bool

	// of one kernel
	campaign.Selection
	shape problem.Named
}

// exported is the JSON of an export.
type exported struct {
	Kind    string `json:"kind"`
	File    string `json:"file"`
	Bytes   int    `json:"bytes"`
	Kernels int    `json:"kernels"`
	Proved  int    `json:"with_records"`
}

const exportedHelp = `

JSON, if -o is given: {"kind", "file", "bytes", "kernels", "with_records"}.`

func (x *exporter) flags(c *cobra.Command) {
	f := c.Flags()
	f.StringVarP(&x.out, "out", "o", "", "write to this `file` instead of standard output")
	f.StringVar(&x.evidence, "evidence", evidence.Dir, "folder with the records in which the kernels were measured")
}

func exportFamily(env *cli.Env, kind, short, long string) *cobra.Command {
	x := &exporter{env: env}
	c := &cobra.Command{
		Use: kind, Short: short,
		Long: long + `

For each combination of --head-dim, --mask and --output, the file has every kernel that attest may
choose on --chip. It chooses by the shape, as attest does.` + exportedHelp,
		Example: fmt.Sprintf("  attest export %s --chip H100 -o FILE\n  attest export %s --chip L4 --head-dim 128 --mask causal --output bf16 -o FILE", kind, kind),
		Args:    noArgs,
		RunE:    func(c *cobra.Command, _ []string) error { return x.family(c, kind) },
	}
	x.flags(c)
	f := c.Flags()
	f.StringVar(&x.format, "format", "e4m3", "format of Q, K and V: e4m3 or e5m2")
	f.StringSliceVar(&x.headDims, "head-dim", []string{"64", "128"}, "head dimensions: 64, 96, 128, 192, 256")
	f.StringSliceVar(&x.masks, "mask", []string{"none", "causal"}, "masks: none, causal, and for PyTorch window")
	f.StringSliceVar(&x.outputs, "output", []string{"f16", "bf16"}, "formats of O: f16, bf16")
	if kind == "torch" {
		f.StringSliceVar(&x.batches, "batch", []string{"uniform", "padded", "paged", "packed"}, "layout of the sequences in memory: uniform (one length), padded, paged, packed")
		f.BoolVar(&x.lse, "lse", false, "also export kernels that return the log-sum-exp")
		f.BoolVar(&x.softcap, "softcap", false, "also export kernels with a soft cap, except for uniform")
		f.BoolVar(&x.sinks, "sinks", false, "also export kernels with attention sinks, except for uniform")
		complete(c, "batch", "uniform", "padded", "paged", "packed")
	}
	chipFlag(c, &x.chip, "GPU to choose kernels for", "H100")
	complete(c, "format", "e4m3", "e5m2")
	complete(c, "mask", "none", "causal", "window")
	complete(c, "output", campaign.Outputs...)
	return c
}

// family exports the kernels of problems.
func (x *exporter) family(c *cobra.Command, kind string) error {
	progress := x.env.StartProgress()
	defer progress.Stop()
	if x.chip == "" {
		x.chip = "H100"
	}
	chip, err := chips.Find(x.chip)
	if err != nil {
		return fmt.Errorf("--chip: %w", err)
	}
	r := export.Request{Kind: kind, Chip: chip, Say: progress.Say}
	if r.Problems, err = x.problems(); err != nil {
		return err
	}
	if r.Evidence, err = evidence.Open(x.evidence); err != nil {
		return err
	}
	b, err := export.Collect(c.Context(), r)
	if err != nil {
		return err
	}
	progress.Print(func() { err = x.write(b) })
	return err
}

// problems returns the combinations that the flags name.
func (x *exporter) problems() (all []problem.Attention, err error) {
	if x.format != "e4m3" && x.format != "e5m2" {
		return nil, fmt.Errorf("--format %s: use e4m3 or e5m2", x.format)
	}
	if len(x.batches) == 0 {
		x.batches = []string{"uniform"}
	}
	uniform := !slices.ContainsFunc(x.batches, func(b string) bool { return b != "uniform" })
	if uniform && (slices.Contains(x.masks, "window") || x.softcap || x.sinks) {
		return nil, errors.New("windows, soft caps and sinks need --batch padded, paged or packed, which attest export torch has")
	}
	for _, text := range x.headDims {
		heads, err := problem.ParseHeadDim(text)
		if err != nil {
			return nil, fmt.Errorf("--head-dim: %w", err)
		}
		if heads.DV != 0 {
			return nil, fmt.Errorf("--head-dim %v: exported files do not support heads of V of another size than heads of K: use one number, or package attention", heads)
		}
		for _, out := range x.outputs {
			if out != "f16" && out != "bf16" {
				return nil, fmt.Errorf("--output %s: use f16 or bf16", out)
			}
			for _, batch := range x.batches {
				list, err := x.masked(batch, problem.Attention{Shape: problem.Shape{D: heads.D}, Format: problem.Format(x.format), Output: problem.Format(out)})
				if err != nil {
					return nil, err
				}
				all = append(all, list...)
			}
		}
	}
	return all, nil
}

// masked returns a problem with every mask and every feature that the flags name.
func (x *exporter) masked(batch string, p problem.Attention) (list []problem.Attention, err error) {
	switch batch {
	case "uniform":
	case "padded":
		p.Keys, p.Layout = problem.Padded, problem.BSHD
	case "paged":
		p.Keys, p.Layout = problem.Paged, problem.BSHD
	case "packed":
		p.Queries, p.Keys, p.Layout = problem.Packed, problem.Packed, problem.BSHD
	default:
		return nil, fmt.Errorf("--batch %s: use uniform, padded, paged or packed", batch)
	}
	for _, mask := range x.masks {
		q := p
		switch mask {
		case "none":
		case "causal":
			q.Causal = true
		case "window":
			if q.Window = problem.NewWindow(0, 0); !p.Ragged() {
				continue
			}
		default:
			return nil, fmt.Errorf("--mask %s: use none, causal or window", mask)
		}
		list = append(list, x.featured(q)...)
	}
	return list, nil
}

// featured returns a problem with and without each feature that the flags name.
func (x *exporter) featured(p problem.Attention) []problem.Attention {
	list := []problem.Attention{p}
	for _, f := range []struct {
		on  bool
		set func(*problem.Attention)
	}{
		{x.lse, func(p *problem.Attention) { p.LSE = true }},
		{x.softcap && p.Ragged(), func(p *problem.Attention) { p.Softcap = 30 }},
		{x.sinks && p.Ragged(), func(p *problem.Attention) { p.Sinks = true }},
	} {
		if !f.on {
			continue
		}
		for _, q := range list {
			f.set(&q)
			list = append(list, q)
		}
	}
	return list
}

func exportPTX(env *cli.Env) *cobra.Command {
	x := &exporter{env: env}
	c := &cobra.Command{
		Use:   "ptx KERNEL",
		Short: "Write the PTX of a kernel with its call as JSON",
		Long: `Write one kernel as JSON: its PTX, the memory that it uses, its launches with their arguments,
and the limits of the problems that it supports.

  attest export ptx hopper --shape long -o hopper.json

Sizes are expressions over names, such as cdiv(Sq, 128). go doc
github.com/GOATnote-Inc/attest/expr describes their grammar, and go doc
github.com/GOATnote-Inc/attest/kernel describes the fields.

The object has "attest_export", "kind", "licence", "attest", "chip" and "kernels". A kernel is its
contract plus "identity", "sha256" and "records".` + exportedHelp,
		Example: "  attest export ptx stage3b | jq -r '.kernels[0].launches[0].grid'\n  attest export ptx hopper --causal --shape big128 -o hopper.json",
		Args:    arguments(1, "one KERNEL; attest list kernels shows the names"),
		RunE: func(_ *cobra.Command, args []string) error {
			s, err := x.OneFor(x.shape, args)
			if err != nil {
				return err
			}
			store, err := evidence.Open(x.evidence)
			if err != nil {
				return err
			}
			b, err := export.Single("ptx", s.Kernel, store)
			if err != nil {
				return err
			}
			return x.write(b)
		},
	}
	x.flags(c)
	presetFlags(c, &x.Selection)
	shapeFlag(c, &x.shape, "mission", "what the kernel is written for")
	c.Flags().StringVar(&x.Target, "target", "", "architecture to build for: sm_80, sm_90a …; the default is the kernel's usual one")
	complete(c, "target", version.Targets()...)
	return c
}

// write writes the file of a bundle.
func (x *exporter) write(b *export.Bundle) error {
	text, err := export.Render(b)
	if err != nil {
		return err
	}
	if x.out == "" {
		_, err := x.env.Write(text)
		return err
	}
	if err := atomicfile.Write(x.out, text); err != nil {
		return fmt.Errorf("-o: %w", err)
	}
	e := exported{Kind: b.Kind, File: x.out, Bytes: len(text), Kernels: len(b.Kernels)}
	for i := range b.Kernels {
		if len(b.Kernels[i].Proofs) > 0 {
			e.Proved++
		}
	}
	if x.env.JSON {
		x.env.Encode(e)
	} else {
		fmt.Fprintf(x.env, "%s: %s, %d of them with a record in %s\n", term.Clean(x.out), english.Count(e.Kernels, "kernel"), e.Proved, term.Clean(x.evidence))
	}
	return nil
}

// verifyExport compares an exported file with the records of a store.
func verifyExport(env *cli.Env, file, dir string) error {
	text, err := os.ReadFile(file)
	if err != nil {
		return fmt.Errorf("--export: %w", err)
	}
	store, err := evidence.Open(dir)
	if err != nil {
		return err
	}
	r, err := export.Verify(text, store)
	if err != nil {
		return fmt.Errorf("--export %s: %w", file, err)
	}
	if env.JSON {
		env.Encode(r)
	} else {
		writeExportReport(env, r, file)
	}
	if !r.OK() {
		return cli.Exit(cli.Red)
	}
	return nil
}

func writeExportReport(env *cli.Env, r *export.Report, file string) {
	t := term.Table{Indent: "  "}
	counts := map[string]int{}
	for _, k := range r.Kernels {
		counts[k.State]++
		record := ""
		if k.Proof != nil {
			record = fmt.Sprintf("record %s, %s on %s", k.Proof.Record[:12], k.Proof.Outcome, k.Proof.Device)
		}
		t.Row(k.State, term.Clean(k.Name), term.Clean(k.Config), term.Clean(record))
	}
	t.WriteTo(env)
	code := map[string]string{
		"same":          "the code around the kernels is what attest writes",
		"changed":       "the code around the kernels was changed",
		"other version": "another version of attest wrote the code around the kernels, so it is not compared",
	}[r.Code]
	var words []string
	for _, state := range []string{"measured", "rejected", "changed", "no record"} {
		if n := counts[state]; n > 0 {
			words = append(words, fmt.Sprintf("%s: %s", state, english.Count(n, "kernel")))
		}
	}
	verdict := "ok"
	if !r.OK() {
		verdict = "bad"
	}
	fmt.Fprintf(env, "%s: %s: %s; %s\n", verdict, term.Clean(file), strings.Join(words, ", "), code)
}
