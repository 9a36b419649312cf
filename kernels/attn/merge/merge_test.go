package merge

import (
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/GOATnote-Inc/attest/device"
	"github.com/GOATnote-Inc/attest/device/emu"
	"github.com/GOATnote-Inc/attest/device/emu/check"
	"github.com/GOATnote-Inc/attest/fp8"
	"github.com/GOATnote-Inc/attest/internal/kerneltest"
	"github.com/GOATnote-Inc/attest/internal/mutate"
	"github.com/GOATnote-Inc/attest/kernel"
	"github.com/GOATnote-Inc/attest/problem"
	"github.com/GOATnote-Inc/attest/ptx"
)

// parts are partial results: O as the kernel reads it, and the LSE.
type parts struct {
	o   []float32
	lse []float32
}

// draw makes partial results. Some rows of some parts have seen no key; their O is NaN. Row 0
// has seen no key in any part.
func draw(p Problem, seed uint64) (x parts) {
	r := rand.New(rand.NewPCG(seed, 3))
	for i := range p.Parts * p.Rows {
		lse := 20*r.Float64() - 10
		if r.IntN(8) == 0 {
			lse *= 20 // far from the others
		}
		empty := i%p.Rows == 0 && p.Rows > 1 || r.IntN(5) == 0
		if empty {
			lse = math.Inf(-1)
		}
		x.lse = append(x.lse, float32(lse))
		for range p.D {
			v := float32(r.NormFloat64())
			if empty {
				v = float32(math.NaN())
			}
			x.o = append(x.o, v)
		}
	}
	x.o = decode(p.Input, encode(p.Input, x.o))
	return x
}

// encode returns numbers in a format.
func encode(f problem.Format, xs []float32) (data []byte) {
	if f == problem.F32 {
		return kerneltest.Bytes(xs)
	}
	for _, x := range xs {
		bits := fp8.F16(x)
		if f == problem.BF16 {
			bits = fp8.BF16(x)
		}
		data = append(data, byte(bits), byte(bits>>8))
	}
	return data
}

// decode is the inverse of encode.
func decode(f problem.Format, data []byte) []float32 {
	switch f {
	case problem.F32:
		return kerneltest.Floats(data)
	case problem.BF16:
		return fp8.FromBF16s(data)
	}
	return fp8.FromF16s(data)
}

// merged merges a row in float64.
func merged(p Problem, x parts, row int) (o []float64, lse float64) {
	most, sum := math.Inf(-1), 0.0
	for i := range p.Parts {
		most = max(most, float64(x.lse[i*p.Rows+row]))
	}
	o = make([]float64, p.D)
	if math.IsInf(most, -1) {
		return o, most
	}
	for i := range p.Parts {
		at := i*p.Rows + row
		w := math.Exp(float64(x.lse[at]) - most)
		if w == 0 {
			continue
		}
		sum += w
		for d := range o {
			o[d] += w * float64(x.o[at*p.D+d])
		}
	}
	for d := range o {
		o[d] /= sum
	}
	return o, most + math.Log(sum)
}

// run merges on an emulator under every checker.
func run(t *testing.T, p Problem, x parts, schedule uint64) (o, lse []float32) {
	t.Helper()
	k, err := New(p, ptx.SM80)
	if err != nil {
		t.Fatal(err)
	}
	checker := check.New()
	o, lse, err = launch(t, k, p, x, schedule, checker)
	if err != nil {
		t.Fatal(err)
	}
	for _, f := range checker.Findings() {
		t.Errorf("%+v: %v", p, f)
	}
	return o, lse
}

// launch runs a kernel. The error is that of the launch.
func launch(t *testing.T, k *kernel.Kernel, p Problem, x parts, schedule uint64, checker *check.Checker) (o, lse []float32, err error) {
	t.Helper()
	if err := k.Serves(p, kernel.Chip{}); err != nil {
		t.Fatal(err)
	}
	dev := kerneltest.Emulator(t, ptx.SM80, emu.Options{Schedule: schedule, Observer: checker})
	program, err := device.LoadProgram(dev, k)
	if err != nil {
		t.Fatal(err)
	}
	plan, err := program.Bind(p, nil)
	if err != nil {
		t.Fatal(err)
	}
	buffers := map[string]device.Buffer{
		"parts_o": kerneltest.Buffer(t, dev, encode(p.Input, x.o)), "parts_lse": kerneltest.Buffer(t, dev, kerneltest.Bytes(x.lse)),
		"o": kerneltest.Buffer(t, dev, make([]byte, p.Output.Bytes()*p.Rows*p.D)), "lse": kerneltest.Buffer(t, dev, make([]byte, 4*p.Rows)),
	}
	kerneltest.Poison(t, buffers["o"], buffers["lse"])
	var memory []device.Slice
	for _, m := range plan.Memory {
		memory = append(memory, device.Slice{Buffer: buffers[m.Name]})
	}
	w, err := program.Work(plan, memory)
	if err != nil {
		t.Fatal(err)
	}
	err = w.Run(t.Context())
	return decode(p.Output, kerneltest.Read(t, buffers["o"])), kerneltest.Floats(kerneltest.Read(t, buffers["lse"])), err
}

// wrong says where a result differs from float64, or "". O may be wrong by its rounding and by a few
// units of f32.
func wrong(p Problem, x parts, o, lse []float32) string {
	step := map[problem.Format]float64{problem.F16: 0x1p-11, problem.BF16: 0x1p-8, problem.F32: 0x1p-24}[p.Output]
	for row := range p.Rows {
		want, sum := merged(p, x, row)
		largest := 0.0
		for _, v := range want {
			largest = max(largest, math.Abs(v))
		}
		for c, v := range want {
			if got := float64(o[row*p.D+c]); !(math.Abs(got-v) <= step*math.Abs(v)+1e-5*largest+1e-7) {
				return fmt.Sprintf("row %d, column %d: %g, want %g", row, c, got, v)
			}
		}
		if got := float64(lse[row]); got != sum && !(math.Abs(got-sum) <= 1e-5*max(1, math.Abs(sum))) {
			return fmt.Sprintf("the LSE of row %d is %g, want %g", row, got, sum)
		}
	}
	return ""
}

// TestMerge compares merged results with float64.
func TestMerge(t *testing.T) {
	turn := uint64(0)
	for _, n := range []int{1, 2, 3, 16, 17, 33, 133} {
		for i, d := range []int{64, 100, 128, 512} {
			turn++
			rows := []int{1, 2, 3, 7}[(i+n)%4]
			p := Problem{Parts: n, Rows: rows, D: d, Input: formats[turn%3], Output: formats[turn/3%3], LSE: true}
			x := draw(p, turn)
			o, lse := run(t, p, x, turn%4)
			if why := wrong(p, x, o, lse); why != "" {
				t.Errorf("%+v: %s", p, why)
			}
		}
	}
}

// TestMutants plants mistakes in the kernel. The checkers, the comparison with float64 or a fault of the
// emulator notices each of them, unless the mutant gives the same bits or only rounds differently. In
// the second inputs all parts have about the same weight, so that no part can be left out.
func TestMutants(t *testing.T) {
	p := Problem{Parts: 19, Rows: 5, D: 64, Input: problem.F16, Output: problem.F32, LSE: true}
	inputs := []parts{draw(p, 2), draw(p, 3)}
	for i, lse := range inputs[1].lse {
		if !math.IsInf(float64(lse), 0) {
			inputs[1].lse[i] = float32(i%7) / 8
		}
	}
	k, err := New(p, ptx.SM80)
	if err != nil {
		t.Fatal(err)
	}
	program, err := mutate.Parse(k.Name, k.PTX)
	if err != nil {
		t.Fatal(err)
	}
	type result struct{ o, lse []float32 }
	var right [2]result
	for i, x := range inputs {
		right[i].o, right[i].lse = run(t, p, x, 0)
	}
	notices := func(i int, mutant *kernel.Kernel) (wrongly, differs bool) {
		x, want := inputs[i], right[i]
		checker := check.New()
		o, lse, err := launch(t, mutant, p, x, 0, checker)
		wrongly = err != nil || len(checker.Findings()) > 0 || wrong(p, x, o, lse) != ""
		return wrongly, !slices.EqualFunc(o, want.o, sameBits) || !slices.EqualFunc(lse, want.lse, sameBits)
	}
	killed, same := 0, 0
	for i, m := range program.Mutants() {
		if i%23 != 0 || program.Check(m) != nil || slices.Contains([]string{"rounding", "approx", "ftz"}, m.Operator) {
			continue
		}
		mutant := *k
		mutant.PTX = program.Text(m)
		first, differs := notices(0, &mutant)
		second, also := notices(1, &mutant)
		switch {
		case first || second:
			killed++
		case differs || also:
			t.Errorf("%s: %s: the result is other, and nothing notices", m.Place(), m.Change())
		default:
			same++
		}
	}
	if killed < 2*same {
		t.Errorf("%d mutants were noticed, %d give the same bits", killed, same)
	}
}

func sameBits(x, y float32) bool { return math.Float32bits(x) == math.Float32bits(y) }

// TestOneSided wants a result unchanged by parts without keys, whatever their O is.
func TestOneSided(t *testing.T) {
	p := Problem{Parts: 3, Rows: 4, D: 64, Input: problem.F32, Output: problem.F32, LSE: true}
	x := draw(p, 1)
	for i := range x.lse {
		x.lse[i] = float32(math.Inf(-1))
		if i/p.Rows == 1 {
			x.lse[i] = float32(i)
			for d := range p.D {
				x.o[i*p.D+d] = float32(d) - 7
			}
		}
	}
	o, lse := run(t, p, x, 0)
	if part := p.Rows * p.D; !slices.Equal(o, x.o[part:][:part]) {
		t.Error("O differs from the only part with keys")
	}
	for row, got := range lse {
		if want := x.lse[p.Rows+row]; math.Abs(float64(got-want)) > 1e-6*float64(want) {
			t.Errorf("row %d: the LSE is %g, want %g", row, got, want)
		}
	}
}

// TestLayout merges the same numbers with the heads before the queries and after them.
func TestLayout(t *testing.T) {
	const batches, heads, queries = 2, 3, 5
	p := Problem{Parts: 4, Rows: batches * heads * queries, D: 64, Input: problem.BF16, Output: problem.BF16, LSE: true}
	x := draw(p, 9)
	want, wantLSE := run(t, p, x, 0)
	move := func(o []float32) []float32 { // from [parts,B,H,S,D] to [parts,B,S,H,D]
		moved := make([]float32, len(o))
		for from := range len(o) / p.D {
			rest, s := from/queries, from%queries
			rest, h := rest/heads, rest%heads
			copy(moved[((rest*queries+s)*heads+h)*p.D:][:p.D], o[from*p.D:])
		}
		return moved
	}
	p.Layout, p.Heads, p.S = problem.BSHD, heads, queries
	o, lse := run(t, p, parts{o: move(x.o), lse: x.lse}, 0)
	if !slices.EqualFunc(o, move(want), sameBits) || !slices.EqualFunc(lse, wantLSE, sameBits) {
		t.Error("the layouts give different results")
	}
}

// TestRefusals reads the errors of problems that no kernel computes.
func TestRefusals(t *testing.T) {
	good := Problem{Parts: 2, Rows: 3, D: 64, Input: problem.F16, Output: problem.F16}
	for want, change := range map[string]func(*Problem){
		"use f16, bf16 or f32":               func(p *Problem) { p.Input = problem.E4M3 },
		"there must be at least one of each": func(p *Problem) { p.Parts = 0 },
		"use a multiple of 4":                func(p *Problem) { p.D = 66 },
		"use a multiple of their product":    func(p *Problem) { p.Layout, p.Heads, p.S = problem.BSHD, 2, 1 },
		"2 heads and 4611686018427387904":    func(p *Problem) { p.Layout, p.Heads, p.S = problem.BSHD, 2, 1<<62 },
		`layout "HBSD"`:                      func(p *Problem) { p.Layout = "HBSD" },
	} {
		p := good
		change(&p)
		if _, err := New(p, ptx.SM80); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%+v: %v, want %q", p, err, want)
		}
	}
	k, err := New(good, ptx.SM80)
	if err != nil {
		t.Fatal(err)
	}
	good.Rows = 1 << 30
	if err := k.Serves(good, kernel.Chip{}); err == nil || !strings.Contains(fmt.Sprint(err), "divide the rows") {
		t.Errorf("too many rows: %v", err)
	}
}
