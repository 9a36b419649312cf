package main

import (
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/GOATnote-Inc/attest/evidence"
	"github.com/GOATnote-Inc/attest/internal/campaign"
	"github.com/GOATnote-Inc/attest/internal/chips"
	"github.com/GOATnote-Inc/attest/internal/rival"
	"github.com/GOATnote-Inc/attest/internal/shapes"
	"github.com/GOATnote-Inc/attest/internal/version"
	"github.com/GOATnote-Inc/attest/kernels"
	"github.com/GOATnote-Inc/attest/problem"
)

// This file has the flags that several commands share, so that a flag has one spelling, one
// help text and one list of completions.

// complete offers words for the value of a flag to the shell.
func complete(c *cobra.Command, flag string, words ...string) {
	err := c.RegisterFlagCompletionFunc(flag, cobra.FixedCompletions(words, cobra.ShellCompDirectiveNoFileComp))
	if err != nil {
		panic(err) // the command has no such flag
	}
}

// completeKernels offers the names of kernels that are not among the arguments yet.
func completeKernels(c *cobra.Command) {
	c.ValidArgsFunction = func(_ *cobra.Command, args []string, _ string) ([]string, cobra.ShellCompDirective) {
		return slices.DeleteFunc(kernels.Names(), func(n string) bool { return slices.Contains(args, n) }), cobra.ShellCompDirectiveNoFileComp
	}
}

// formatFlags are about kernels of attest.
func formatFlags(c *cobra.Command, s *campaign.Selection) {
	f := c.Flags()
	f.StringVar(&s.Format, "format", "e4m3", "format of Q, K and V: e4m3, e5m2, u8 or u8-legacy; in u8 a byte u means (u-128)/127*448*scale")
	f.StringVar(&s.Output, "output", "f16", "format of O: f16, bf16")
	f.BoolVar(&s.Causal, "causal", false, "mask the keys after each query; the stages do not support it")
	complete(c, "format", campaign.Formats()...)
	complete(c, "output", campaign.Outputs...)
	completeKernels(c)
}

// presetFlags choose a kernel of attest and change it.
func presetFlags(c *cobra.Command, s *campaign.Selection) {
	formatFlags(c, s)
	f := c.Flags()
	f.BoolVar(&s.LSE, "lse", false, "also compute the log-sum-exp of each row")
	servingFlags(c, s)
	f.StringVar(&s.Set, "set", "", "toggles to change in every named kernel, as in --set swizzle,no-lut,tile-n=32; stage3a+swizzle is the same for one kernel. attest list toggles explains them")
}

// servingFlags describe attention as servers use it.
func servingFlags(c *cobra.Command, s *campaign.Selection) {
	f := c.Flags()
	f.StringVar(&s.Window, "window", "", "sliding window left,right, as in 128,0: a query sees that many keys before and after its own position; -1 is no limit, and the last query is at the position of the last key")
	f.Float64Var(&s.Softcap, "softcap", 0, "soft cap of the logits: x becomes softcap*tanh(x/softcap); 0 is none")
	f.Float64Var(&s.SoftmaxScale, "softmax-scale", 0, "factor of the logits; 0 is 1/√D")
	f.BoolVar(&s.Sinks, "sinks", false, "attention sinks: add one logit per head of Q to the sum of the softmax, without a value")
	f.StringVar(&s.Mask, "mask", "", "read a mask from memory: bytes [B,Sq,Skv], where 0 hides a key, or with --mask=bits one bit per key in [B,Sq,cdiv(Skv,8)] bytes")
	f.Lookup("mask").NoOptDefVal = "bytes"
	f.BoolVar(&s.Strided, "strided", false, "leave gaps in Q, K, V and O: after sequences or pages, heads and rows; a row of K or V is followed by a gap of its size, as if rows of K and V alternated")
	f.StringVar(&s.Queries, "queries", "", "layout of the sequences of Q: padded (lengths in seqused_q) or packed (offsets in cu_seqlens_q); all have the length Sq when empty")
	f.StringVar(&s.Keys, "keys", "", "layout of the sequences of K and V: padded (lengths in seqused_k), packed (offsets in cu_seqlens_k) or paged (page_table); all have the length Skv when empty")
	f.IntVar(&s.PageSize, "page-size", 0, "rows of a page of K and V; implies --keys paged; 16 when paged and not given")
	f.StringVar(&s.Layout, "layout", "", "order of Q, K, V and O in memory: BHSD (default) or BSHD")
	f.StringVar(&s.FormatQ, "format-q", "", "format of Q if it has 16 bits: f16 or bf16; Q then has no scales")
	f.StringVar(&s.Scaling, "scaling", "", "scales of Q, K and V: "+strings.Join(campaign.Scalings, ", ")+"; per-head when empty")
	f.StringVar(&s.ScaleBlock, "scale-block", "", "rows of Q and of K and V that share a scale with --scaling per-block, as in 128,64")
	complete(c, "queries", campaign.QueryPlacements...)
	complete(c, "keys", campaign.KeyPlacements...)
	complete(c, "page-size", "16", "32", "64", "128", "256")
	complete(c, "mask", campaign.Masks...)
	complete(c, "layout", campaign.Layouts...)
	complete(c, "format-q", campaign.QueryFormats...)
	complete(c, "scaling", campaign.Scalings...)
	addParagraph(c, servingHelp)
}

// servingHelp is the paragraph about the flags of servingFlags.
const servingHelp = `These flags describe attention as servers use it:

  --window, --softcap, --sinks, --mask   which keys a query sees, and how logits change
  --keys, --queries, --page-size         where sequences of different lengths lie in memory
  --layout, --strided                    in which order numbers lie, and whether there are gaps
  --format-q, --scaling                  how numbers are stored

The kernels decode and prefill, and their -invariant variants, support all of them:

  attest run decode --shape 16,32/8,1/8192,128 --page-size 64 --window 128,0 --softcap 30 --sinks

Skv of the shape is the length of the longest sequence. The other lengths and the page tables are
drawn at random. Unused entries of a page table are -1, and unused rows are NaN or old numbers.`

// lengthFlags give the lengths of the sequences of one shape.
func lengthFlags(c *cobra.Command, s *campaign.Selection) {
	f := c.Flags()
	f.StringVar(&s.SeqlensQ, "seqlens-q", "", "number of queries of each sequence, with commas; without --queries, sequences are padded")
	f.StringVar(&s.SeqlensK, "seqlens-k", "", "number of keys of each sequence, with commas, as in 17,0,300; without --keys, sequences are padded")
}

// kernelFlags choose kernels: those of attest, or those of PTX files.
func kernelFlags(c *cobra.Command, s *campaign.Selection) {
	presetFlags(c, s)
	f := c.Flags()
	f.StringVar(&s.PTX, "ptx", "", "use the kernel in this PTX file, from any compiler; an argument that ends in .ptx means the same")
	f.StringVar(&s.Entry, "entry", "", "the entry of the PTX file; the default is the entry that its JSON file names")
	f.StringVar(&s.ABI, "abi", "", "JSON file that says how to call the kernel of a PTX file; mine.json for mine.ptx when empty; go doc github.com/GOATnote-Inc/attest/kernel/abi explains it")
}

// headDimFlag is for commands where no shape need be given.
func headDimFlag(c *cobra.Command, to *problem.HeadDim) {
	c.Flags().Var(shapes.HeadDim{To: to}, "head-dim", "head dimension: 64, 96, 128, 192 or 256, or D/DV if V has another one, as far as the kernel supports it; the default is the head dimension of --shape, or 64")
	complete(c, "head-dim", "64", "96", "128", "192", "256", "192/128")
}

// deviceFlag says where kernels run.
func deviceFlag(c *cobra.Command, to *string) {
	c.Flags().StringVar(to, "device", "", "where to run: emu, emu:sm_90a, cuda:0 …; the default is a GPU if there is one, else emu")
	completeDevices(c, "device")
}

func completeDevices(c *cobra.Command, flag string) {
	words := []string{"emu"}
	for _, t := range version.Targets() {
		words = append(words, "emu:"+t)
	}
	complete(c, flag, append(words, "cuda:0")...)
}

// againstFlags say what kernels are timed against, and in how many processes.
func againstFlags(c *cobra.Command, x *campaign.Campaign) {
	f := c.Flags()
	f.StringSliceVar(&x.Against, "against", nil, "libraries to time in the same run: "+strings.Join(rival.Libraries, ", ")+"; torch:flash names an implementation")
	f.IntVar(&x.Processes, "processes", 1, "number of processes that repeat the timing")
	complete(c, "against", rival.Libraries...)
}

// shapeFlag takes one shape.
func shapeFlag(c *cobra.Command, to *problem.Named, value, what string) {
	one := &shapeValue{to: to}
	if err := one.Set(value); err != nil {
		panic(err) // the default is not a shape
	}
	c.Flags().Var(one, "shape", what+": "+shapes.Help)
	explainShapes(c)
	complete(c, "shape", shapes.Names()...)
}

// shapeValue makes a shape the value of a flag.
type shapeValue struct {
	shapes.One
	to *problem.Named
}

func (v *shapeValue) Set(text string) error {
	err := v.One.Set(text)
	*v.to = v.Named
	return err
}

// shapesFlag takes several shapes.
func shapesFlag(c *cobra.Command, to *shapes.List, what string) {
	c.Flags().Var(to, "shape", what+": "+shapes.Help+"; several with commas, or repeat the flag")
	explainShapes(c)
	complete(c, "shape", shapes.Names()...)
}

// explainShapes adds the paragraph about shapes to the help of a command.
func explainShapes(c *cobra.Command) { addParagraph(c, shapes.Explanation()) }

// addParagraph adds a paragraph to the help of a command, in front of the description of its JSON.
func addParagraph(c *cobra.Command, paragraph string) {
	text, fields, found := strings.Cut(c.Long, "\n\nJSON")
	c.Long = text + "\n\n" + paragraph
	if found {
		c.Long += "\n\nJSON" + fields
	}
}

// methodFlags say how launches are timed.
func methodFlags(c *cobra.Command, modes, caches *[]string, cache ...string) {
	f := c.Flags()
	f.StringSliceVar(modes, "mode", []string{"graph", "event"}, "how a launch is timed: graph (many launches in a replayed graph), event (one launch between two events)")
	f.StringSliceVar(caches, "cache", cache, "state of the L2 cache: warm (the same buffers again), cold (other buffers)")
	complete(c, "mode", "graph", "event")
	complete(c, "cache", "warm", "cold")
}

// keepFlag says where results are kept.
func keepFlag(c *cobra.Command, to *string, value, what string) {
	c.Flags().StringVar(to, "evidence", value, "folder that keeps "+what+"; \"\" keeps nothing")
}

// lookupFlag says where kept results are looked up.
func lookupFlag(c *cobra.Command, to *string) {
	c.PersistentFlags().StringVar(to, "evidence", evidence.Dir, "folder that the evidence is read from")
}

// chipFlag chooses a GPU. what says what it is chosen for, and otherwise names the default.
func chipFlag(c *cobra.Command, to *string, what, otherwise string) {
	var names []string
	for _, p := range chips.All {
		names = append(names, p.Name)
	}
	c.Flags().StringVar(to, "chip", "", what+": "+strings.Join(names, ", ")+"; the default is "+otherwise)
	complete(c, "chip", names...)
}
