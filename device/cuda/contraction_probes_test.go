package cuda_test

import (
	"strings"

	"github.com/GOATnote-Inc/attest/ptx"
)

// contractionProbe is a sequence of mul and add or sub without rounding modifiers. It computes r,
// and s where there is a second result, from the inputs a, b, c and e. MUL, ADD, SUB, NEG, ABS and FMA
// stand for the instructions of a type, MULRN and ADDRN for those with .rn, MULFTZ, ADDFTZ, ADDSAT and
// FMASAT for those with another modifier, mov.N for a move, and @W for a guard that holds in every
// second thread.
type contractionProbe struct {
	name string
	body string
	// gpu is what an H200 computes with driver 580: "written", or "fused" and a number of the list
	// below. Some differ for bf16x2.
	gpu string
	// fused lists ways in which an assembler may fuse the sequence.
	fused []string
	types []ptx.Type // all of contractionTypes if nil
}

var contractionTypes = []ptx.Type{ptx.F32, ptx.F64, ptx.F16, ptx.BF16, ptx.F16x2, ptx.BF16x2}

// typesOf returns the types of a probe.
func (p contractionProbe) typesOf() []ptx.Type {
	if p.types != nil {
		return p.types
	}
	return contractionTypes
}

// measured returns what an H200 computes for a type.
func (p contractionProbe) measured(t ptx.Type) string {
	outcome, differs := strings.CutSuffix(p.gpu, " except bf16x2")
	if differs && t == ptx.BF16x2 {
		return "written"
	}
	return outcome
}

const fusedSum = "FMA r, a, b, c;"

var contractionProbes = []contractionProbe{
	{"product first", "MUL m, a, b; ADD r, m, c;", "fused 1", []string{fusedSum}, nil},
	{"product second", "MUL m, a, b; ADD r, c, m;", "fused 1", []string{fusedSum}, nil},
	{"subtract from product", "MUL m, a, b; SUB r, m, c;", "fused 1", []string{"NEG n, c; FMA r, a, b, n;"}, nil},
	{"subtract product", "MUL m, a, b; SUB r, c, m;", "fused 1", []string{"NEG n, a; FMA r, n, b, c;"}, nil},
	{"two products", "MUL m, a, b; MUL n, c, e; ADD r, m, n;", "fused 1",
		[]string{"MULRN n, c, e; FMA r, a, b, n;", "MULRN m, a, b; FMA r, c, e, m;"}, nil},
	{"two products, the later one first", "MUL n, c, e; MUL m, a, b; ADD r, m, n;", "fused 1",
		[]string{"MULRN n, c, e; FMA r, a, b, n;", "MULRN m, a, b; FMA r, c, e, m;"}, nil},
	{"two users", "MUL m, a, b; ADD r, m, c; ADD s, m, e;", "fused 1", []string{"FMA r, a, b, c; FMA s, a, b, e;"}, nil},
	{"product also stored", "MUL m, a, b; ADD r, m, c; mov.N s, m;", "written", []string{"MULRN s, a, b; FMA r, a, b, c;"}, nil},
	{"product also multiplied", "MUL m, a, b; ADD r, m, c; MUL s, m, e;", "written", []string{"MULRN m, a, b; MULRN s, m, e; FMA r, a, b, c;"}, nil},
	{"negated product", "MUL m, a, b; NEG n, m; ADD r, n, c;", "fused 1 except bf16x2", []string{"NEG n, a; FMA r, n, b, c;"}, nil},
	{"negated factor", "NEG n, a; MUL m, n, b; ADD r, m, c;", "fused 1", []string{"NEG n, a; FMA r, n, b, c;"}, nil},
	{"across a block", "MUL m, a, b; @W bra L; ADD r, m, c; L:", "written", []string{"@W bra L; FMA r, a, b, c; L:"}, nil},
	{"in both arms", "MUL m, a, b; @W bra L; ADD r, m, c; bra E; L: ADD r, m, e; E:", "written",
		[]string{"@W bra L; FMA r, a, b, c; bra E; L: FMA r, a, b, e; E:"}, nil},
	{"guarded sum", "MUL m, a, b; @W ADD r, m, c;", "fused 1", []string{"@W FMA r, a, b, c;"}, nil},
	{"guarded product and sum", "mov.N m, c; @W MUL m, a, b; @W ADD r, m, c;", "written", []string{"@W FMA r, a, b, c;"}, nil},
	{"factor overwritten", "MUL m, a, b; ADDRN a, a, e; ADD r, m, c;", "fused 1", []string{fusedSum}, nil},
	{"register used again", "MUL a, a, b; ADD a, a, c; mov.N r, a;", "fused 1", []string{fusedSum}, nil},
	{"far away", "MUL m, a, b; " + strings.Repeat("ADDRN e, e, c; ", 60) + "ADD r, m, c; mov.N s, e;", "fused 1",
		[]string{fusedSum + strings.Repeat("ADDRN e, e, c; ", 60) + "mov.N s, e;"}, nil},
	{"in a loop", "mov.u32 i, 0; mov.N r, c; L: MUL m, a, r; ADD r, m, b; add.u32 i, i, 1; setp.lt.u32 p, i, 5; @p bra L;", "fused 1",
		[]string{"mov.u32 i, 0; mov.N r, c; L: FMA r, a, r, b; add.u32 i, i, 1; setp.lt.u32 p, i, 5; @p bra L;"}, nil},
	{"sum of a chain", "MUL m, a, b; ADD n, m, c; MUL m, n, e; ADD r, m, a;", "fused 1", []string{"FMA n, a, b, c; FMA r, n, e, a;"}, nil},
	{"rounding on the sum only", "MUL m, a, b; ADDRN r, m, c;", "written", []string{fusedSum}, nil},
	{"rounding on the product only", "MULRN m, a, b; ADD r, m, c;", "written", []string{fusedSum}, nil},

	// Several users.
	{"three users", "MUL m, a, b; ADD r, m, c; ADD s, m, e; ADD n, m, a; ADDRN s, s, n;", "fused 1",
		[]string{"FMA r, a, b, c; FMA s, a, b, e; FMA n, a, b, a; ADDRN s, s, n;"}, nil},
	{"sum and difference", "MUL m, a, b; ADD r, m, c; SUB s, e, m;", "fused 1", []string{"FMA r, a, b, c; NEG n, a; FMA s, n, b, e;"}, nil},
	{"two users, one guarded", "MUL m, a, b; ADD r, m, c; @W ADD s, m, e;", "fused 1", []string{"FMA r, a, b, c; @W FMA s, a, b, e;"}, nil},
	{"two users, one in another block", "MUL m, a, b; ADD r, m, c; @W bra L; ADD s, m, e; L:", "written",
		[]string{"FMA r, a, b, c; @W bra L; FMA s, a, b, e; L:", "MULRN m, a, b; FMA r, a, b, c; @W bra L; ADDRN s, m, e; L:"}, nil},
	{"two products, the second used again", "MUL m, a, b; MUL n, c, e; ADD r, m, n; ADD s, n, a;", "fused 1",
		[]string{"MULRN n, c, e; FMA r, a, b, n; ADDRN s, n, a;", "MULRN n, c, e; FMA r, a, b, n; FMA s, c, e, a;",
			"MULRN m, a, b; FMA r, c, e, m; FMA s, c, e, a;"}, nil},
	{"two products, the first used again", "MUL m, a, b; MUL n, c, e; ADD r, m, n; ADD s, m, a;", "fused 2",
		[]string{"MULRN n, c, e; FMA r, a, b, n; FMA s, a, b, a;", "MULRN m, a, b; FMA r, c, e, m; ADDRN s, m, a;",
			"MULRN m, a, b; FMA r, c, e, m; FMA s, a, b, a;"}, nil},
	{"two products, the first also stored", "MUL m, a, b; MUL n, c, e; ADD r, m, n; mov.N s, m;", "fused 1",
		[]string{"MULRN m, a, b; FMA r, c, e, m; mov.N s, m;", "MULRN n, c, e; FMA r, a, b, n; MULRN s, a, b;"}, nil},
	{"unused other user", "MUL m, a, b; ADD r, m, c; MUL n, m, e;", "fused 1", []string{fusedSum}, nil},
	{"computed twice and stored", "MUL m, a, b; ADD r, m, c; MUL n, a, b; mov.N s, n;", "fused 1", []string{"FMA r, a, b, c; MULRN s, a, b;"}, nil},
	{"negated for one of two users", "MUL m, a, b; NEG n, m; ADD r, n, c; ADD s, m, e;", "fused 1 except bf16x2",
		[]string{"NEG n, a; FMA r, n, b, c; FMA s, a, b, e;", "MULRN m, a, b; NEG n, m; ADDRN r, n, c; FMA s, a, b, e;"}, nil},
	{"negated and stored", "MUL m, a, b; NEG n, m; ADD r, n, c; mov.N s, n;", "written",
		[]string{"NEG n, a; FMA r, n, b, c; MULRN s, n, b;"}, nil},
	// Moves, labels, barriers.
	{"moved product", "MUL m, a, b; mov.N n, m; ADD r, n, c;", "fused 1", []string{fusedSum}, nil},
	{"moved product, two users", "MUL m, a, b; mov.N n, m; ADD r, n, c; ADD s, m, e;", "fused 1", []string{"FMA r, a, b, c; FMA s, a, b, e;"}, nil},
	{"across a label", "MUL m, a, b; L: ADD r, m, c;", "fused 1", []string{fusedSum}, nil},
	{"across a jump", "MUL m, a, b; bra L; L: ADD r, m, c;", "fused 1", []string{fusedSum}, nil},
	{"across a barrier", "MUL m, a, b; bar.sync 0; ADD r, m, c;", "fused 1", []string{fusedSum}, nil},
	{"product before a loop", "mov.u32 i, 0; mov.N r, c; MUL m, a, b; L: ADD r, r, m; add.u32 i, i, 1; setp.lt.u32 p, i, tid; @p bra L;", "written",
		[]string{"mov.u32 i, 0; mov.N r, c; L: FMA r, a, b, r; add.u32 i, i, 1; setp.lt.u32 p, i, tid; @p bra L;"}, nil},
	{"after a join", "mov.N m, c; @W bra L; mov.N m, e; L: MUL n, m, b; ADD r, n, a;", "fused 1", []string{"mov.N m, c; @W bra L; mov.N m, e; L: FMA r, m, b, a;"}, nil},
	// Guards.
	{"guarded accumulation", "mov.N r, c; MUL m, a, b; @W ADD r, r, m;", "fused 1", []string{"mov.N r, c; @W FMA r, a, b, r;"}, nil},
	{"guarded product", "mov.N m, e; @W MUL m, a, b; ADD r, m, c;", "written", []string{"mov.N m, e; @W FMA r, a, b, c; @!W ADDRN r, m, c;"}, nil},
	{"guarded product and sum, no other value", "@W MUL m, a, b; @W ADD r, m, c;", "written", []string{"@W FMA r, a, b, c;"}, nil},
	{"sum guarded by the opposite", "MUL m, a, b; @!W ADD r, m, c;", "fused 1", []string{"@!W FMA r, a, b, c;"}, nil},
	{"two products, both used again", "MUL m, a, b; MUL n, c, e; ADD r, m, n; ADD s, m, a; ADD n, n, b; ADDRN s, s, n;", "fused 1",
		[]string{"MULRN n, c, e; FMA r, a, b, n; FMA s, a, b, a; ADDRN n, n, b; ADDRN s, s, n;",
			"MULRN m, a, b; FMA r, c, e, m; ADDRN s, m, a; FMA n, c, e, b; ADDRN s, s, n;"}, nil},
	{"two products, both used again, the later one first", "MUL n, c, e; MUL m, a, b; ADD r, m, n; ADD s, m, a; ADD n, n, b; ADDRN s, s, n;", "fused 1",
		[]string{"MULRN n, c, e; FMA r, a, b, n; FMA s, a, b, a; ADDRN n, n, b; ADDRN s, s, n;",
			"MULRN m, a, b; FMA r, c, e, m; ADDRN s, m, a; FMA n, c, e, b; ADDRN s, s, n;"}, nil},
	{"unused chain of users", "MUL m, a, b; ADD r, m, c; MUL n, m, e; MUL n, n, e;", "fused 1", []string{fusedSum}, nil},
	{"factor of another fma", "MUL m, a, b; ADD r, m, c; FMA s, m, e, a;", "written", []string{"FMA r, a, b, c; MULRN m, a, b; FMA s, m, e, a;"}, nil},
	{"addend of another fma", "MUL m, a, b; ADD r, m, c; FMA s, c, e, m;", "written", []string{"FMA r, a, b, c; MULRN m, a, b; FMA s, c, e, m;"}, nil},
	{"negated twice", "MUL m, a, b; NEG n, m; NEG n, n; ADD r, n, c;", "fused 1 except bf16x2", []string{fusedSum}, nil},
	{"negated product in a difference", "MUL m, a, b; NEG n, m; SUB r, c, n;", "fused 1 except bf16x2", []string{fusedSum}, nil},
	{"absolute product", "MUL m, a, b; ABS n, m; ADD r, n, c;", "written", []string{"ABS m, a; ABS n, b; FMA r, m, n, c;"}, nil},
	{"moved under a guard", "MUL m, a, b; mov.N n, e; @W mov.N n, m; ADD r, n, c;", "written",
		[]string{"MULRN m, a, b; @!W ADDRN r, e, c; @W FMA r, a, b, c;"}, nil},
	// Operands and modifiers.
	{"square", "MUL m, a, a; ADD r, m, c;", "fused 1", []string{"FMA r, a, a, c;"}, nil},
	{"addend is a factor", "MUL m, a, b; ADD r, m, a;", "fused 1", []string{"FMA r, a, b, a;"}, nil},
	{"flushed sum", "MULFTZ m, a, b; ADDFTZ r, m, c;", "fused 1", []string{fusedSum}, []ptx.Type{ptx.F32, ptx.F16, ptx.F16x2}},
	{"flushed product, plain sum", "MULFTZ m, a, b; ADD r, m, c;", "written", []string{fusedSum}, []ptx.Type{ptx.F32, ptx.F16, ptx.F16x2}},
	{"plain product, flushed sum", "MUL m, a, b; ADDFTZ r, m, c;", "written", []string{fusedSum}, []ptx.Type{ptx.F32, ptx.F16, ptx.F16x2}},
	{"saturated sum", "MUL m, a, b; ADDSAT r, m, c;", "fused 1", []string{"FMASAT r, a, b, c;"}, []ptx.Type{ptx.F32, ptx.F16, ptx.F16x2}},
	{"sum of three products", "MUL m, a, b; MUL n, c, e; ADD s, m, n; MUL n, a, e; ADD r, s, n;", "fused 1",
		[]string{"MULRN n, c, e; FMA s, a, b, n; FMA r, a, e, s;", "MULRN m, a, b; FMA s, c, e, m; FMA r, a, e, s;"}, nil},
	{"product minus product", "MUL m, a, b; MUL n, c, e; SUB r, m, n;", "fused 1",
		[]string{"MULRN n, c, e; NEG n, n; FMA r, a, b, n;", "MULRN m, a, b; NEG n, c; FMA r, n, e, m;"}, nil},
}
