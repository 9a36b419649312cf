package abi

import (
	"fmt"
	"slices"

	"github.com/GOATnote-Inc/attest/expr"
	"github.com/GOATnote-Inc/attest/internal/jsonpos"
	"github.com/GOATnote-Inc/attest/kernel"
	"github.com/GOATnote-Inc/attest/kernels/attn"
	"github.com/GOATnote-Inc/attest/problem"
)

// short is a file of the short form.
type short struct {
	p      problem.Attention
	weight problem.Format // the format that softmax weights are rounded to
	sum    problem.Format // the format of the accumulators
	launch kernel.Launch
	spaces []kernel.Operand // the workspaces
	rules  []kernel.Rule
	named  []string // the operands that parameters refer to
	states []string // the special registers and variables in "declares"
	same   bool     // whether the kernel gives the same bits each time
	mask   string   // the elements of the operand mask
	zeroed []string // the outputs that must be zero before a launch
}

func readShort(n *jsonpos.Node) (*kernel.Kernel, error) {
	s := &short{weight: problem.F16, sum: problem.F32, same: true}
	l := &s.launch
	err := n.Object("the description of a kernel", jsonpos.Fields{
		"entry":       jsonpos.Text(&l.Entry),
		"format":      jsonpos.Word(&s.p.Format, problem.E4M3, problem.E5M2, problem.U8, problem.U8Legacy, problem.F16, problem.BF16, problem.F32),
		"format_q":    jsonpos.Word(&s.p.FormatQ, problem.F16, problem.BF16),
		"scaling":     jsonpos.Word(&s.p.Scaling, problem.PerHead, problem.PerTensor, problem.PerBatch, problem.PerToken, problem.PerBlock, problem.PerPage, problem.NoScale),
		"scale_block": s.readBlocks,
		"output":      jsonpos.Word(&s.p.Output, problem.F16, problem.BF16, problem.F32),
		"p":           jsonpos.Word(&s.weight, problem.F32, problem.F16, problem.BF16, problem.E4M3, problem.E5M2),
		"bias":        jsonpos.Word(&s.p.Bias, problem.F16, problem.BF16, problem.F32),
		"mask":        jsonpos.Word(&s.mask, "bytes", "bits"),
		"rope":        jsonpos.Word(&s.p.Rope, problem.RotateHalves, problem.RotatePairs),
		"accumulator": jsonpos.Word(&s.sum, problem.F32, problem.F16),
		"layout":      jsonpos.Word(&s.p.Layout, problem.BHSD, problem.BSHD),
		"causal":      jsonpos.Bool(&s.p.Causal),
		"params":      jsonpos.List("parameters", s.readParam),
		"grid":        jsonpos.Exprs(&l.Grid, 1, 3, names),
		"block":       jsonpos.Exprs(&l.Block, 1, 3, names),
		"cluster":     jsonpos.Exprs(&l.Cluster, 1, 3, names),
		"shared":      jsonpos.Expr(&l.Shared, names),
		"require":     jsonpos.List("rules", ruleReader(&s.rules, names)),
		"declares":    words(&s.states),

		"deterministic": jsonpos.Bool(&s.same),
	}, "entry", "format", "params", "grid", "block")
	if err != nil {
		return nil, err
	}
	s.p.LSE, s.p.Sinks, s.p.Masked, s.p.MaskBits = s.names("lse"), s.names("sinks"), s.names("mask"), s.mask == "bits"
	if s.names("bias") && s.p.Bias == "" {
		s.p.Bias = problem.F32
	}
	if s.names("rope_cos", "rope_sin") && s.p.Rope == "" {
		s.p.Rope = problem.RotateHalves
	}
	s.p.Appends = s.names("k_new", "v_new")
	s.placeSequences()
	if s.uses("window_left", "window_right") {
		s.p.Window = problem.NewWindow(0, 0) // any: it is an argument
	}
	if s.mentions("DV") {
		s.p.DV = 1 // any: "require" restricts it
	}
	s.p = s.p.Filled()
	if err := s.check(n); err != nil {
		return nil, err
	}
	return s.kernel(), nil
}

// names reports whether a parameter points to one of some operands.
func (s *short) names(operands ...string) bool {
	return slices.ContainsFunc(operands, func(o string) bool { return slices.Contains(s.named, o) })
}

// placeSequences finds how sequences lie in memory from the operands that describe them.
func (s *short) placeSequences() {
	switch {
	case s.names("cu_seqlens_q"):
		s.p.Queries = problem.Packed
	case s.names("seqused_q"):
		s.p.Queries = problem.Padded
	}
	switch {
	case s.names("page_table", "kv_indices"):
		s.p.Keys = problem.Paged
	case s.names("cu_seqlens_k"):
		s.p.Keys = problem.Packed
	case s.names("seqused_k", "cache_seqlens"):
		s.p.Keys = problem.Padded
	}
}

// readBlocks reads the numbers of rows that share a scale.
func (s *short) readBlocks(n *jsonpos.Node) error {
	items := n.Items()
	if n.Kind() != jsonpos.Array || len(items) != 2 {
		return n.Errorf("scale_block is a list of two numbers: the rows of Q and the rows of K and V that share a scale")
	}
	for i, to := range []*int{&s.p.ScaleBlockQ, &s.p.ScaleBlockKV} {
		rows, err := items[i].Int(1, 1<<20)
		if err != nil {
			return err
		}
		*to = int(rows)
	}
	return nil
}

// check refuses a file without a parameter for q, k, v or o, and a file with scales for a
// format that has none.
func (s *short) check(n *jsonpos.Node) error {
	params := n.Field("params")
	for _, name := range []string{"q", "k", "v", "o"} {
		if !slices.Contains(s.named, name) {
			return params.Errorf("no parameter points to %s", name)
		}
	}
	if f := n.Field("scaling"); f != nil && s.p.Scaling != problem.NoScale && !s.p.Format.OneByte() {
		return f.Errorf("%s has no scales: use \"scaling\": \"none\" or leave the field out", s.p.Format)
	}
	for i, a := range s.launch.Args {
		if scale := a.Pointer == "qs" || a.Pointer == "ks" || a.Pointer == "vs"; scale && s.p.Scaling == problem.NoScale {
			return params.Items()[i].Errorf("%s is a scale, but the scaling is none: remove the parameter or set \"scaling\"", a.Pointer)
		}
	}
	if s.p.FormatQ != "" && s.names("qs") {
		return params.Errorf("qs is a scale, but Q is in %s: remove the parameter", s.p.FormatQ)
	}
	if s.p.Appends && !(s.names("k_new") && s.names("v_new")) {
		return params.Errorf("a kernel that appends keys needs parameters that point to k_new and to v_new")
	}
	if err := s.checkNamed(n, "bias", string(s.p.Bias), "bias"); err != nil {
		return err
	}
	if err := s.checkNamed(n, "mask", s.mask, "mask"); err != nil {
		return err
	}
	if err := s.checkNamed(n, "rope", string(s.p.Rope), "rope_cos", "rope_sin"); err != nil {
		return err
	}
	p := s.p
	p.Shape = problem.Square(1, 1, 1, 1)
	if err := p.Check(); err != nil {
		return n.Errorf("%v", err)
	}
	return nil
}

// checkNamed refuses a field that says what an operand is like if no parameter points to the operand.
func (s *short) checkNamed(n *jsonpos.Node, field, value string, operands ...string) error {
	for _, o := range operands {
		if value != "" && !s.names(o) {
			return n.Errorf("%q is %s, but no parameter points to %s", field, value, o)
		}
	}
	return nil
}

// kernel converts the file to the whole form. In the short form, "require" excludes what the
// kernel does not support; therefore every feature that the short form can describe counts
// as supported.
func (s *short) kernel() *kernel.Kernel {
	k := &kernel.Kernel{
		Name: s.launch.Entry, Op: s.p.Op(), Fixed: s.p.Facts(), Require: s.rules,
		Supports: []string{problem.GroupedHeads, problem.CrossLengths}, Declares: s.states,
		Launches: []kernel.Launch{s.launch}, Claims: map[string]string{"p": string(s.weight)},
		Config: map[string]string{},
	}
	delete(k.Fixed, "D") // "require" restricts the head dimensions
	delete(k.Fixed, "DV")
	if k.ArgsUse("scale") { // otherwise the scale is a constant in the PTX
		k.Supports = append(k.Supports, problem.CustomScale)
	}
	if s.sum != problem.F32 {
		k.Claims["accumulator"] = string(s.sum)
	}
	if !s.same {
		k.Claims[kernel.ClaimedDeterministic] = "false"
	}
	if s.p.Causal {
		k.Supports = append(k.Supports, problem.CausalMask)
		k.Config["causal"] = "true"
	}
	for _, f := range []struct {
		name      string
		supported bool
	}{
		{problem.LogSumExp, s.p.LSE}, {problem.SlidingMask, s.p.Window.Limited()}, {problem.SoftCapped, s.uses("softcap")}, {problem.SinkLogits, s.p.Sinks},
		{problem.MaskBuffer, s.p.Masked}, {problem.BiasBuffer, s.p.Bias != ""}, {problem.RotatedRows, s.p.Rope != ""}, {problem.RaggedBatch, s.p.Ragged()}, {problem.PagedKeys, s.p.Keys == problem.Paged},
		{problem.MixedFormats, s.p.FormatQ != ""}, {problem.AppendedKeys, s.p.Appends}, {problem.ValueHeadDim, s.p.DV != 0},
	} {
		if f.supported {
			k.Supports = append(k.Supports, f.name)
		}
	}
	for _, o := range attn.Operands(s.p) {
		if slices.Contains(s.zeroed, o.Name) {
			o.Init = kernel.Zero
		}
		if slices.Contains(s.named, o.Name) {
			k.Operands = append(k.Operands, o)
		}
	}
	k.Operands = append(k.Operands, s.spaces...)
	return k
}

// uses reports whether an argument depends on one of the names.
func (s *short) uses(names ...string) bool {
	return (&kernel.Kernel{Launches: []kernel.Launch{s.launch}}).ArgsUse(names...)
}

// mentions reports whether an expression of the file uses a name.
func (s *short) mentions(name string) bool {
	l := &s.launch
	list := slices.Concat(l.Grid, l.Block, l.Cluster, []expr.Expr{l.Shared})
	for _, a := range l.Args {
		list = append(list, a.Value)
		if a.Map != nil {
			list = slices.Concat(list, a.Map.Dims, a.Map.Strides, a.Map.Box)
		}
	}
	for _, r := range s.rules {
		list = append(list, r.Holds)
	}
	return slices.ContainsFunc(list, func(e expr.Expr) bool { return slices.Contains(e.Names(), name) })
}

// operandNames are the names of all operands that an attention problem can have, and workspace.
var operandNames = func() (list []string) {
	for _, o := range attn.Operands(problem.Attention{LSE: true, Sinks: true, Masked: true, Bias: problem.F32, Rope: problem.RotateHalves, Queries: problem.Packed, Keys: problem.Paged, Appends: true}) {
		list = append(list, o.Name)
	}
	return append(list, "workspace")
}()

func (s *short) readParam(n *jsonpos.Node) error {
	var a kernel.Arg
	var bytes expr.Expr
	var zero bool
	fields := valueFields(&a)
	fields["pointer"] = jsonpos.Word(&a.Pointer, operandNames...)
	fields["bytes"] = jsonpos.Expr(&bytes, names)
	fields["zero"] = jsonpos.Bool(&zero)
	fields["tensormap"] = func(n *jsonpos.Node) (err error) {
		a.Map, err = readMap(n, names, "pointer", "q", "k", "v", "o")
		return err
	}
	if err := n.Object("a parameter", fields); err != nil {
		return err
	}
	space, output := a.Pointer == "workspace", a.Pointer == "o" || a.Pointer == "lse"
	switch {
	case kinds(n) != 1:
		return n.Errorf("a parameter has exactly one of pointer, tensormap or a type such as u32")
	case space && bytes.IsZero():
		return n.Errorf(`a workspace needs "bytes"`)
	case !space && n.Field("bytes") != nil:
		return n.Errorf(`only a workspace has "bytes"`)
	case !space && !output && n.Field("zero") != nil:
		return n.Errorf(`only a workspace, o and lse have "zero"`)
	}
	if output && zero {
		s.zeroed = append(s.zeroed, a.Pointer)
	}
	if space {
		a.Pointer = s.addSpace(bytes, zero)
	}
	for _, name := range []string{a.Pointer, mapped(a)} {
		if name != "" {
			s.named = append(s.named, name)
		}
	}
	s.launch.Args = append(s.launch.Args, a)
	return nil
}

// mapped returns the operand of a tensor map, or "" for another argument.
func mapped(a kernel.Arg) string {
	if a.Map == nil {
		return ""
	}
	return a.Map.Operand
}

// kinds returns the number of fields that say what a parameter is. A valid parameter has
// exactly one.
func kinds(n *jsonpos.Node) (count int) {
	for _, f := range n.Fields() {
		if f.Name != "bytes" && f.Name != "zero" {
			count++
		}
	}
	return count
}

// addSpace adds a workspace and returns its name: "workspace" for the first, then
// "workspace2" and so on.
func (s *short) addSpace(bytes expr.Expr, zero bool) string {
	o := kernel.Operand{Name: "workspace", Type: "u8", Role: kernel.Workspace, Dims: []expr.Expr{bytes}}
	if n := len(s.spaces); n > 0 {
		o.Name = fmt.Sprintf("workspace%d", n+1)
	}
	if zero {
		o.Init = kernel.Zero
	}
	s.spaces = append(s.spaces, o)
	return o.Name
}
