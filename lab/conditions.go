package lab

import (
	"fmt"
	"math"
	"slices"
	"strings"

	"github.com/GOATnote-Inc/attest/ptx"
	"github.com/GOATnote-Inc/attest/ptx/parse"
)

// conditions is the part of a kernel that depends on nothing but the arguments and the size of the grid,
// as a kernel of its own: one thread computes it for one shape. It shows which shapes give a comparison,
// a combination of comparisons, or a number an unusual result, without running the kernel for them.
//
// The instructions stand in the order of the text. A jump back is left out, so the body of a loop runs
// once, and so is a jump whose condition depends on more than the arguments. A result that is wrong because of
// this only costs a case that was not needed.
type conditions struct {
	text      string
	points    []point // the results that are noted, one byte each
	left      *point  // the first result that is not noted because there are too many
	constants []int64 // the numbers in the instructions
	params    []*ptx.Var
}

// The classes of a result. A byte of the output has one of them, or 0 if the instruction did not run.
const (
	zeroResult = 1 << iota // or false
	oneResult              // or true
	otherResult
)

// point is an instruction whose result is noted, or an expression of the call, which has no line.
type point struct {
	line int
	text string
}

// read takes the text of an instruction from its line: the slicer gives registers other names.
func (p *point) read(lines []string) {
	if 0 < p.line && p.line <= len(lines) {
		p.text = fmt.Sprintf("%.80s", strings.TrimSpace(lines[p.line-1]))
	}
}

// mostPoints is the largest number of results that are noted. Kernels of attest have up to 130.
const mostPoints = 4096

// gridWords is the number of words before the arguments of a shape: %nctaid and %ntid.
const gridWords = 6

// pure are the instructions whose results depend on nothing but their operands.
var pure = []string{
	"abs", "add", "and", "bfe", "bfi", "bfind", "brev", "clz", "cnot", "cvt", "cvta", "div", "fma", "lop3", "lg2", "mad", "mad24", "max", "min", "mov",
	"mul", "mul24", "neg", "not", "or", "popc", "prmt", "rcp", "rem", "sad", "selp", "set", "setp", "shf", "shl", "shr", "slct", "sqrt", "sub", "testp", "xor",
}

// conditionsOf returns the conditions of an entry of a text. ok is false if there are none.
func conditionsOf(name, text, entry string) (c *conditions, ok bool) {
	m, err := parse.Parse(name, text)
	if err != nil {
		return nil, false // the devices report it
	}
	f := m.Func(entry)
	if f == nil {
		return nil, false
	}
	s := newSlicer(f)
	for at, st := range f.Body {
		switch st := st.(type) {
		case *ptx.Label:
			fmt.Fprintf(&s.body, "%s:\n", st.Sym.Name)
		case *ptx.Inst:
			s.add(at, st)
		}
	}
	lines := strings.Split(text, "\n")
	for i := range s.points {
		s.points[i].read(lines)
	}
	if s.left != nil {
		s.left.read(lines)
	}
	c = &conditions{points: s.points, left: s.left, constants: s.constants, params: f.Params}
	c.text = fmt.Sprintf(".version %s\n.target %s\n.address_size 64\n", m.Version, m.Target) + s.kernel(c.stride())
	return c, len(c.points) > 0
}

// stride returns the bytes of a shape in the table of arguments.
func (c *conditions) stride() int {
	n := 4 * gridWords
	for _, v := range c.params {
		n = offsetOf(n, v) + int(v.Size())
	}
	return (n + 15) / 16 * 16
}

// offsetOf returns where a parameter begins if the one before it ends at n.
func offsetOf(n int, v *ptx.Var) int {
	align := max(v.Align, v.Type.Bytes(), 1)
	return (n + align - 1) / align * align
}

// slicer writes the instructions of a function that depend on its arguments alone.
type slicer struct {
	known     map[*ptx.Symbol]bool // registers whose values are computed
	labels    map[*ptx.Symbol]int  // the place of a label in the body
	offsets   map[*ptx.Symbol]int  // the places of parameters in the table
	declared  map[*ptx.Symbol]bool
	regs      strings.Builder
	body      strings.Builder
	points    []point
	left      *point
	constants []int64
}

// newSlicer gives the registers and labels of a function names that are unique, because blocks of PTX may
// use a name again.
func newSlicer(f *ptx.Func) *slicer {
	s := &slicer{known: map[*ptx.Symbol]bool{}, labels: map[*ptx.Symbol]int{}, offsets: map[*ptx.Symbol]int{}, declared: map[*ptx.Symbol]bool{}}
	for i, r := range f.Regs {
		r.Name = fmt.Sprintf("%%known%d", i)
	}
	for at, st := range f.Body {
		if l, ok := st.(*ptx.Label); ok {
			l.Sym.Name = fmt.Sprintf("$known%d", at)
			s.labels[l.Sym] = at
		}
	}
	n := 4 * gridWords
	for _, v := range f.Params {
		n = offsetOf(n, v)
		s.offsets[v.Sym] = n
		n += int(v.Size())
	}
	return s
}

// add writes an instruction if its operands are known. Otherwise its result is not known either.
func (s *slicer) add(at int, in *ptx.Inst) {
	guard := in.Guard.Sym == nil || s.known[in.Guard.Sym]
	switch {
	case in.Op.Name == "bra" && guard && in.Guard.Sym != nil && len(in.Args) == 1 && s.labels[in.Args[0].Sym] > at:
		fmt.Fprintf(&s.body, "%s\n", strings.Replace(in.String(), ".uni", "", 1))
		return
	case (in.Op.Name == "ret" || in.Op.Name == "exit") && guard && in.Guard.Sym != nil:
		fmt.Fprintf(&s.body, "%s bra $end;\n", guardOf(in))
		return
	case len(in.Args) == 0:
		return
	}
	result := &in.Args[0]
	line, ok := s.line(in)
	ok = ok && guard && result.Kind == ptx.RegOperand && result.Comp == 0
	if full := len(s.points) >= mostPoints; ok && full && s.left == nil {
		s.left = &point{line: int(in.Pos.Line)}
	}
	if !ok || s.left != nil {
		for _, r := range registersOf(result) {
			delete(s.known, r)
		}
		return
	}
	s.known[result.Sym] = true
	for i := range in.Args {
		s.declare(&in.Args[i])
	}
	fmt.Fprintf(&s.body, "%s\n", line)
	s.note(in, result.Sym)
}

// line returns the text of an instruction whose operands are known. Arguments and the size of the grid come from
// the table.
func (s *slicer) line(in *ptx.Inst) (string, bool) {
	if in.Op.Name == "ld" && slices.Contains(in.Op.Mods, "param") && len(in.Args) == 2 && in.Args[1].Kind == ptx.AddrOperand {
		base := in.Args[1]
		at, ok := s.offsets[base.Sym]
		mods := slices.DeleteFunc(slices.Clone(in.Op.Mods), func(m string) bool { return m == "param" })
		return fmt.Sprintf("%s ld.global.%s %s, [%%table+%d];", guardOf(in), strings.Join(mods, "."), in.Args[0].String(), int64(at)+base.Val), ok
	}
	if !slices.Contains(pure, in.Op.Name) {
		return "", false
	}
	var constants []int64
	for i := range in.Args[1:] {
		switch o := &in.Args[1+i]; o.Kind {
		case ptx.ImmOperand, ptx.F32Operand, ptx.F64Operand:
			constants = append(constants, wholeOf(o))
		case ptx.RegOperand:
			if !s.known[o.Sym] || o.Comp != 0 {
				return "", false
			}
		case ptx.SpecialOperand:
			if !strings.HasPrefix(o.Sym.Name, "%nctaid.") && !strings.HasPrefix(o.Sym.Name, "%ntid.") {
				return "", false
			}
		default:
			return "", false
		}
	}
	s.constants = append(s.constants, constants...)
	return sizeNames.Replace(in.String()), true
}

var sizeNames = strings.NewReplacer("%nctaid.x", "%size0", "%nctaid.y", "%size1", "%nctaid.z", "%size2", "%ntid.x", "%size3", "%ntid.y", "%size4", "%ntid.z", "%size5")

// declare declares the registers of an operand.
func (s *slicer) declare(o *ptx.Operand) {
	for _, r := range registersOf(o) {
		if !s.declared[r] {
			s.declared[r] = true
			fmt.Fprintf(&s.regs, ".reg .%s %s;\n", r.Type, r.Name)
		}
	}
}

// note writes instructions that store the class of a result. Results that are floats are not noted; their
// comparisons are.
func (s *slicer) note(in *ptx.Inst, r *ptx.Symbol) {
	bits := r.Type.Bits()
	switch {
	case in.Op.Name == "mov" || in.Op.Name == "ld" || in.Op.Name == "cvta" || r.Type == ptx.F32 || r.Type == ptx.F64 || r.Type == ptx.F16 || bits > 64 || bits == 8:
		return
	case r.Type == ptx.Pred:
		fmt.Fprintf(&s.body, "selp.u32 %%class, %d, %d, %s;\n", oneResult, zeroResult, r.Name)
	default:
		fmt.Fprintf(&s.body, "setp.eq.b%d %%is, %s, 0;\nselp.u32 %%class, %d, %d, %%is;\nsetp.eq.b%d %%is, %s, 1;\n@%%is mov.u32 %%class, %d;\n",
			bits, r.Name, zeroResult, otherResult, bits, r.Name, oneResult)
	}
	fmt.Fprintf(&s.body, "%s st.global.u8 [%%out+%d], %%class;\n", guardOf(in), len(s.points))
	s.points = append(s.points, point{line: int(in.Pos.Line)})
}

// kernel returns the entry that computes the conditions, for shapes whose arguments have stride bytes.
func (s *slicer) kernel(stride int) string {
	var b strings.Builder
	b.WriteString(`.visible .entry conditions(.param .u64 table, .param .u64 out, .param .u32 count)
{
.reg .b64 %table, %out;
.reg .b32 %i, %threads, %thread, %count, %class, %size<6>;
.reg .pred %is;
` + s.regs.String() + `ld.param.u64 %table, [table];
ld.param.u64 %out, [out];
ld.param.u32 %count, [count];
mov.u32 %i, %ctaid.x;
mov.u32 %threads, %ntid.x;
mov.u32 %thread, %tid.x;
mad.lo.u32 %i, %i, %threads, %thread;
setp.ge.u32 %is, %i, %count;
@%is bra $end;
`)
	fmt.Fprintf(&b, "mad.wide.u32 %%table, %%i, %d, %%table;\nmad.wide.u32 %%out, %%i, %d, %%out;\n", stride, len(s.points))
	for i := range gridWords {
		fmt.Fprintf(&b, "ld.global.u32 %%size%d, [%%table+%d];\n", i, 4*i)
	}
	return b.String() + s.body.String() + "$end:\nret;\n}\n"
}

// guardOf returns the guard of an instruction as text.
func guardOf(in *ptx.Inst) string {
	switch {
	case in.Guard.Sym == nil:
		return ""
	case in.Guard.Neg:
		return "@!" + in.Guard.Sym.Name
	}
	return "@" + in.Guard.Sym.Name
}

// registersOf returns the registers that an operand names.
func registersOf(o *ptx.Operand) (list []*ptx.Symbol) {
	if o.Sym != nil && o.Sym.Kind == ptx.RegSymbol {
		list = append(list, o.Sym)
	}
	for i := range o.Elems {
		list = append(list, registersOf(&o.Elems[i])...)
	}
	return list
}

// wholeOf returns a number in the text, rounded if it is a float.
func wholeOf(o *ptx.Operand) int64 {
	x := 0.0
	switch o.Kind {
	case ptx.F32Operand:
		x = float64(math.Float32frombits(uint32(o.Val)))
	case ptx.F64Operand:
		x = math.Float64frombits(uint64(o.Val))
	default:
		return o.Val
	}
	if !(math.Abs(x) < 1<<31) {
		return 0
	}
	return int64(x)
}
