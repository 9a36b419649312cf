package problem

import (
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"

	"github.com/GOATnote-Inc/attest/expr"
)

// Attention is the problem O = softmax(Q·Kᵀ·scale)·V. A row that sees no key is zero, and its
// log-sum-exp is -∞. The zero values of all fields except
// Shape are the defaults: e4m3 inputs with one scale per head, f16 output, no mask.
type Attention struct {
	Shape
	Format  Format  // of Q, K and V; "" is E4M3
	FormatQ Format  // the format of Q, if it is not Format: F16 or BF16. Q then has no scales
	Output  Format  // of O; "" is F16
	Scaling Scaling // of Q, K and V; "" is PerHead for one-byte formats, else NoScale
	Layout  Layout  // of Q, K, V and O in memory; "" is BHSD
	// Causal hides the keys that come after the query. The last query sees all keys, so
	// query i sees keys 0 to i+Skv-Sq.
	Causal bool
	LSE    bool // also write the log-sum-exp of each row
	// Scale multiplies the logits. 0 selects 1/√D.
	Scale float64
	// Window hides the keys that are far from the query.
	Window Window
	// Softcap, if it is not 0, bounds the logits: after the scale, x becomes
	// Softcap·tanh(x/Softcap).
	Softcap float64
	// Sinks adds one logit per head of Q to the sum of the softmax. It has no value, so it
	// only takes weight from the keys. The scale and the softcap do not apply to it.
	Sinks bool
	// Masked means that an operand [B,Sq,Skv] says which keys a query sees. All heads have the
	// same mask.
	Masked bool
	// MaskBits means that the mask has one bit per key, [B,Sq,cdiv(Skv,8)] bytes: bit j%8 of byte j/8 belongs to
	// key j. Otherwise it has one byte per key.
	MaskBits bool
	// Bias is the format of an operand [B,Hq,Sq,Skv] that is added to the logits, after the scale
	// and the softcap; "" is none. A bias of -∞ hides the key.
	Bias Format
	// Rope says which columns of Q and K are rotated together before the product; "" rotates
	// none. The cosines and sines of the angles are operands [max(Sq,Skv),D/2]. Key j of a sequence
	// has position j, and query i has position i+max(0,Skv-Sq), with the lengths of its sequence.
	Rope Rotation
	// Queries says how the sequences of Q and O lie in memory, Keys those of K and V. In a batch
	// with lengths, Sq and Skv are the longest lengths, and the masks of each sequence refer to
	// its own lengths.
	Queries, Keys Placement
	// Appends means that the kernel writes new rows of K and V to the ends of the sequences before it
	// computes attention: as many rows as the sequence has queries. Skv and the lengths of K and V
	// include the new rows.
	Appends bool
	// ScaleBlockQ and ScaleBlockKV are the numbers of rows that share a scale if Scaling is
	// PerBlock.
	ScaleBlockQ, ScaleBlockKV int
	Batch
	// Gaps makes Q, K, V and O tensors that are not contiguous.
	Gaps Gaps
}

// Filled returns the problem with all defaults filled in except Scale.
func (a Attention) Filled() Attention {
	if a.Hkv == 0 {
		a.Hkv = a.Hq
	}
	if a.Skv == 0 {
		a.Skv = a.Sq
	}
	a.Shape = a.WithHeadDim(a.HeadDim())
	if a.Format == "" {
		a.Format = E4M3
	}
	if a.Output == "" {
		a.Output = F16
	}
	if a.Layout == "" {
		a.Layout = BHSD
	}
	if a.Scaling == "" {
		a.Scaling = NoScale
		if a.Format.OneByte() {
			a.Scaling = PerHead
		}
	}
	if a.FormatQ == a.Format {
		a.FormatQ = ""
	}
	if a.Keys == Paged && a.PageSize == 0 {
		a.PageSize = usualPage
	}
	if a.Scaling == PerToken {
		a.ScaleBlockQ, a.ScaleBlockKV = 1, 1
	}
	return a
}

// Check returns an error if a field has a value that is not allowed.
func (a Attention) Check() error {
	a = a.Filled()
	if err := a.Shape.Check(); err != nil {
		return err
	}
	switch {
	case !slices.Contains(inputFormats, a.Format):
		return fmt.Errorf("format %q is not known: use %s", a.Format, list(inputFormats))
	case !slices.Contains(outputFormats, a.Output):
		return fmt.Errorf("output %q is not known: use %s", a.Output, list(outputFormats))
	case !slices.Contains(scalings, a.Scaling):
		return fmt.Errorf("scaling %q is not known: use %s", a.Scaling, list(scalings))
	case a.FormatQ != "" && (!a.Format.OneByte() || a.FormatQ != F16 && a.FormatQ != BF16):
		return fmt.Errorf("%s queries with keys in %s: use f16 or bf16 queries with keys of one byte, or one format for all", a.FormatQ, a.Format)
	case a.Scaling == PerPage && a.Keys != Paged:
		return fmt.Errorf("scaling %s, but the keys are not paged: use %s or %s", PerPage, PerToken, PerBlock)
	case a.Scaling != NoScale && !a.Format.OneByte():
		return fmt.Errorf("%s inputs have no scales: use scaling %q", a.Format, NoScale)
	case !slices.Contains(layouts, a.Layout):
		return fmt.Errorf("layout %q is not known: use %s", a.Layout, list(layouts))
	case math.IsNaN(a.Scale) || math.IsInf(a.Scale, 0) || a.Scale < 0:
		return fmt.Errorf("scale %v is not a finite number above zero: use 0 for 1/√D", a.Scale)
	case math.IsNaN(a.Softcap) || math.IsInf(a.Softcap, 0) || a.Softcap < 0:
		return fmt.Errorf("softcap %v is not a finite number above zero: use 0 for none", a.Softcap)
	case !fitsF32(a.Scale):
		return fmt.Errorf("scale %v is not a number that kernels compute with: use 0 for 1/√D, or %s", a.Scale, rangeF32)
	case !fitsF32(a.Softcap):
		return fmt.Errorf("softcap %v is not a number that kernels compute with: use 0 for none, or %s", a.Softcap, rangeF32)
	case a.Causal && a.Window.Limited():
		return fmt.Errorf("causal and a window: use the window %d,0, which is causal", a.Window.Left())
	case a.Bias != "" && !slices.Contains(outputFormats, a.Bias):
		return fmt.Errorf("bias %q is not known: use %s", a.Bias, list(outputFormats))
	case a.Rope != "" && !slices.Contains(rotations, a.Rope):
		return fmt.Errorf("rope %q is not known: use %s", a.Rope, list(rotations))
	case a.Rope != "" && a.D%2 != 0 && a.D > 1:
		return fmt.Errorf("rope with head dimension %d: it rotates pairs of columns", a.D)
	case a.Rope != "" && a.Appends:
		return fmt.Errorf("rope and new keys: rotate the new keys before, or leave them out")
	case a.MaskBits && !a.Masked:
		return fmt.Errorf("bits of a mask, but there is no mask in memory")
	case a.Masked && (a.Causal || a.Window.Limited()):
		return fmt.Errorf("a mask in memory and a %s mask: let the one in memory hide all keys", Attention{Causal: a.Causal, Window: a.Window}.Mask())
	}
	if err := a.checkScaleBlocks(); err != nil {
		return err
	}
	if err := a.checkGaps(); err != nil {
		return err
	}
	return a.checkBatch()
}

// rangeF32 are the positive normal numbers of 32 bits. Kernels get scales and soft caps in this format: a
// smaller number could become 0, which selects the default.
const rangeF32 = "a number from 1.2e-38 to 3.4e38"

// fitsF32 reports whether a number is 0 or in rangeF32.
func fitsF32(x float64) bool { return x == 0 || x >= 0x1p-126 && x <= math.MaxFloat32 }

// checkScaleBlocks refuses blocks of rows without scales, and scales without blocks.
func (a Attention) checkScaleBlocks() error {
	switch {
	case a.Scaling == PerToken:
	case a.Scaling != PerBlock && (a.ScaleBlockQ != 0 || a.ScaleBlockKV != 0):
		return fmt.Errorf("blocks of %d and %d rows share a scale, but scaling is %s: use %s", a.ScaleBlockQ, a.ScaleBlockKV, a.Scaling, PerBlock)
	case a.Scaling != PerBlock:
	case a.ScaleBlockQ < 1 || a.ScaleBlockKV < 1:
		return fmt.Errorf("scaling %s with blocks of %d and %d rows: a block has at least one", PerBlock, a.ScaleBlockQ, a.ScaleBlockKV)
	case a.Queries == Packed || a.Keys == Packed || a.Keys == Paged:
		return fmt.Errorf("scaling %s with packed or paged sequences, whose blocks do not begin at multiples of a block: use %s", PerBlock, PerToken)
	}
	return nil
}

// Op names the operation.
func (a Attention) Op() string { return "attention" }

// LogitScale returns the factor of the logits, with the default filled in.
func (a Attention) LogitScale() float64 {
	if a.Scale != 0 {
		return a.Scale
	}
	return 1 / math.Sqrt(float64(max(a.D, 1)))
}

// QueryFormat returns the format of Q.
func (a Attention) QueryFormat() Format {
	if a.FormatQ != "" {
		return a.FormatQ
	}
	return a.Filled().Format
}

// FLOP returns the number of floating-point operations of the two products. By convention a
// causal mask halves it.
func (a Attention) FLOP() float64 {
	if a.Causal {
		return a.Shape.FLOP() / 2
	}
	return a.Shape.FLOP()
}

// InputBytes returns the size of Q, K and V in bytes, with all sequences full.
func (a Attention) InputBytes() int {
	return a.QueryFormat().Bytes()*a.Q().Len() + a.Format.Bytes()*(a.K().Len()+a.V().Len())
}

// OutputBytes returns the size of O in bytes, with all sequences full.
func (a Attention) OutputBytes() int { return a.Output.Bytes() * a.O().Len() }

// Mask names the mask: "none", "causal", "window", "buffer", or "bits" for a buffer of bits.
func (a Attention) Mask() string {
	switch {
	case a.MaskBits:
		return "bits"
	case a.Masked:
		return "buffer"
	case a.Causal:
		return "causal"
	case a.Window.Limited():
		return "window"
	}
	return "none"
}

// Facts returns the values that the text of a kernel may depend on.
func (a Attention) Facts() map[string]string {
	a = a.Filled()
	facts := map[string]string{
		"D": strconv.Itoa(a.D), "format": string(a.Format), "output": string(a.Output),
		"scaling": string(a.Scaling), "layout": string(a.Layout), "mask": a.Mask(), "lse": strconv.FormatBool(a.LSE),
	}
	if a.DV != 0 { // kernels from before this field have no such fact
		facts["DV"] = strconv.Itoa(a.DV)
	}
	if a.FormatQ != "" {
		facts["format_q"] = string(a.FormatQ)
	}
	if a.Sinks { // kernels from before this field have no such fact
		facts["sinks"] = "true"
	}
	if a.Bias != "" {
		facts["bias"] = string(a.Bias)
	}
	if a.Rope != "" {
		facts["rope"] = string(a.Rope)
	}
	if a.Appends {
		facts["appends"] = "true"
	}
	if a.Queries != Uniform {
		facts["queries"] = string(a.Queries)
	}
	if a.Keys != Uniform {
		facts["keys"] = string(a.Keys)
	}
	if a.Strided() {
		facts["strides"] = "true"
	}
	if a.Scaling == PerBlock {
		facts["scale_block"] = fmt.Sprintf("%d,%d", a.ScaleBlockQ, a.ScaleBlockKV)
	}
	return facts
}

// FromFacts returns the problem that a kernel's fixed facts describe. Of the sizes it sets
// only D and DV, if the facts have them.
func FromFacts(facts map[string]string) (Attention, error) {
	for name, known := range map[string][]string{"mask": {"", "none", "causal", "window", "buffer", "bits"}, "sinks": {"", "false", "true"}, "appends": {"", "false", "true"}, "strides": {"", "false", "true"}, "lse": {"", "false", "true"}} {
		if !slices.Contains(known, facts[name]) {
			return Attention{}, fmt.Errorf("%s %q is not known: use %s", name, facts[name], strings.Join(known[1:], ", "))
		}
	}
	a := Attention{
		Format: Format(facts["format"]), FormatQ: Format(facts["format_q"]), Output: Format(facts["output"]), Scaling: Scaling(facts["scaling"]),
		Layout: Layout(facts["layout"]), Causal: facts["mask"] == "causal", LSE: facts["lse"] == "true", Sinks: facts["sinks"] == "true",
		Masked: facts["mask"] == "buffer" || facts["mask"] == "bits", MaskBits: facts["mask"] == "bits", Bias: Format(facts["bias"]), Rope: Rotation(facts["rope"]), Queries: Placement(facts["queries"]), Keys: Placement(facts["keys"]),
		Appends: facts["appends"] == "true",
	}
	if block := facts["scale_block"]; block != "" {
		if n, _ := fmt.Sscanf(block, "%d,%d", &a.ScaleBlockQ, &a.ScaleBlockKV); n != 2 {
			return a, fmt.Errorf("scale_block %q: give two numbers of rows, for Q and for K and V", block)
		}
	}
	if facts["mask"] == "window" {
		a.Window = NewWindow(0, 0) // any: each call gives its own
	}
	for name, to := range map[string]*int{"D": &a.D, "DV": &a.DV} {
		if d := facts[name]; d != "" {
			var err error
			if *to, err = strconv.Atoi(d); err != nil {
				return a, fmt.Errorf("head dimension %s %q is not a number", name, d)
			}
		}
	}
	a = a.Filled()
	if facts["strides"] == "true" {
		a.Gaps = a.UsualGaps() // any: each call gives its own
	}
	whole := a
	whole.Shape = Square(1, 1, 1, max(a.D, 1))
	whole.DV = a.DV
	return a, whole.Check()
}

// The features that a problem may use.
const (
	GroupedHeads = "grouped-heads" // several heads of Q share one of K and V
	CrossLengths = "cross-lengths" // Sq and Skv differ
	CausalMask   = "causal"
	LogSumExp    = "lse"
	CustomScale  = "scale" // a factor of the logits other than 1/√D
	SlidingMask  = "window"
	SoftCapped   = "softcap"
	SinkLogits   = "sinks"
	MaskBuffer   = "mask"       // a mask in memory
	BiasBuffer   = "bias"       // a bias of the logits in memory
	RotatedRows  = "rope"       // rows of Q and K that are rotated by their positions
	RaggedBatch  = "ragged"     // sequences of different lengths
	PagedKeys    = "paged"      // K and V in pages
	MixedFormats = "mixed"      // Q has another format than K and V
	AppendedKeys = "append"     // the kernel writes new rows of K and V
	ValueHeadDim = "head-dim-v" // heads of V and O have another size than heads of Q and K
	StridedRows  = "strides"    // tensors that are not contiguous
)

var features = []string{GroupedHeads, CrossLengths, CausalMask, LogSumExp, CustomScale, SlidingMask, SoftCapped, SinkLogits, MaskBuffer, BiasBuffer, RotatedRows, RaggedBatch, PagedKeys, MixedFormats, AppendedKeys, ValueHeadDim, StridedRows}

// CheckFeatures refuses a word that is not the name of a feature.
func CheckFeatures(names []string) error {
	for _, n := range names {
		if !slices.Contains(features, n) {
			return fmt.Errorf("feature %q is not known: use %s", n, strings.Join(features, ", "))
		}
	}
	return nil
}

// Uses returns the features that the problem needs, in a fixed order.
func (a Attention) Uses() (used []string) {
	a = a.Filled()
	for _, f := range []struct {
		used bool
		name string
	}{
		{a.Hq != a.Hkv, GroupedHeads}, {a.Sq != a.Skv, CrossLengths}, {a.Causal, CausalMask}, {a.LSE, LogSumExp},
		{a.Scale != 0, CustomScale}, {a.Window.Limited(), SlidingMask}, {a.Softcap != 0, SoftCapped}, {a.Sinks, SinkLogits},
		{a.Masked, MaskBuffer}, {a.Bias != "", BiasBuffer}, {a.Rope != "", RotatedRows}, {a.Ragged(), RaggedBatch}, {a.Keys == Paged, PagedKeys}, {a.FormatQ != "", MixedFormats},
		{a.Appends, AppendedKeys}, {a.DV != 0, ValueHeadDim}, {a.Strided(), StridedRows},
	} {
		if f.used {
			used = append(used, f.name)
		}
	}
	return used
}

// mostNames is about the number of names of a problem; the strides of its operands may be twice as many.
const mostNames = 28

func integer(n int) expr.Value { return expr.Int(int64(n)) }

// Names returns the sizes that expressions of a launch may use.
func (a Attention) Names() expr.Env {
	a = a.Filled()
	env := make(expr.Env, mostNames) // it is made for each of thousands of shapes, and growing it takes most of the time
	env["scale"], env["softcap"] = expr.Float(a.LogitScale()), expr.Float(a.Softcap)
	env["window_left"], env["window_right"] = integer(a.Window.Left()), integer(a.Window.Right())
	env["B"], env["H"], env["Hkv"] = integer(a.B), integer(a.Hq), integer(a.Hkv)
	env["Sq"], env["S"], env["Skv"] = integer(a.Sq), integer(a.Sq), integer(a.Skv)
	env["D"], env["DV"] = integer(a.D), integer(a.DimV())
	a.batchNames(env)
	if a.Strided() {
		a.gapNames(env)
	}
	return env
}

// String returns the shape and the fields that differ from the defaults: "1,8,512,64 causal".
func (a Attention) String() string {
	words := []string{a.Shape.String()}
	b := a.Filled()
	def := Attention{Format: b.Format}.Filled()
	add := func(is bool, word string) {
		if is {
			words = append(words, word)
		}
	}
	add(b.Format != E4M3, string(b.Format))
	add(b.FormatQ != "", "q "+string(b.FormatQ))
	add(b.Output != def.Output, "to "+string(b.Output))
	add(b.Scaling != def.Scaling, "scaling "+string(b.Scaling))
	add(b.Layout != def.Layout, string(b.Layout))
	add(b.Causal, "causal")
	add(b.LSE, "lse")
	add(b.Scale != 0, "scale "+strconv.FormatFloat(b.Scale, 'g', -1, 64))
	add(b.Window.Limited(), "window "+b.Window.String())
	add(b.Softcap != 0, "softcap "+strconv.FormatFloat(b.Softcap, 'g', -1, 64))
	add(b.Sinks, "sinks")
	add(b.Masked && !b.MaskBits, "mask")
	add(b.MaskBits, "mask of bits")
	add(b.Bias != "", "bias "+string(b.Bias))
	add(b.Rope != "", "rope "+string(b.Rope))
	add(b.Strided(), "strided")
	add(b.Queries != Uniform, string(b.Queries)+" queries")
	add(b.Keys != Uniform, string(b.Keys)+" keys")
	add(b.Appends, "appends")
	return strings.Join(words, " ")
}

func list[T ~string](words []T) string {
	all := make([]string, len(words))
	for i, w := range words {
		all[i] = string(w)
	}
	return strings.Join(all, ", ")
}
