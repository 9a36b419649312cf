package kerneldiff

import (
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"math"

	"github.com/GOATnote-Inc/attest/device"
	"github.com/GOATnote-Inc/attest/fp8"
	"github.com/GOATnote-Inc/attest/kernel"
	"github.com/GOATnote-Inc/attest/problem"
	"github.com/GOATnote-Inc/attest/ref"
)

// Side is what was observed of one kernel, or of the reference.
type Side struct {
	Name string
	// P are the weights P/l of each row of O, by key. O are the rows of the output. The rows are
	// in the order batch, head, query.
	P, O [][]float64
	// Weight is the type to which the kernel rounds P, "" if it is not known.
	Weight string
}

// Inputs are Q, K and V of a comparison.
type Inputs struct {
	problem problem.Attention
	q, k, v *fp8.Tensor
}

// mostWeights is the largest number of weights that are compared.
const mostWeights = 1 << 24

// NewInputs draws the inputs of a problem.
func NewInputs(p problem.Attention, distribution string, seed uint64) (*Inputs, error) {
	p = p.Filled()
	format, ok := p.Format.FP8()
	switch {
	case !ok || p.Scaling != problem.PerHead:
		return nil, fmt.Errorf("attest diff compares kernels with one byte per number and one scale per head, not %s", p)
	case p.Layout != problem.BHSD || p.Strided() || p.Ragged() || p.Masked || p.Sinks:
		return nil, fmt.Errorf("attest diff compares kernels of dense problems, not %s", p)
	case p.B*p.Hq*p.Sq > mostWeights/max(p.Skv, 1):
		return nil, fmt.Errorf("a problem %s has more than %d weights: use a smaller shape", p, mostWeights)
	}
	drawn, err := ref.Generate(distribution, seed, p.Shape)
	if err != nil {
		return nil, err
	}
	in := &Inputs{problem: p}
	for _, t := range []struct {
		to   **fp8.Tensor
		from *ref.Floats
	}{{&in.q, drawn.Q}, {&in.k, drawn.K}, {&in.v, drawn.V}} {
		if *t.to, err = fp8.Quantise(format, fp8.PerHead, t.from.Shape, t.from.Data); err != nil {
			return nil, err
		}
	}
	return in, nil
}

// identity returns a V whose rows from key first on are the identity matrix.
func (in *Inputs) identity(first int) (*fp8.Tensor, error) {
	d := in.v.Shape
	x := make([]float32, d.Len())
	for b := range d.B {
		for h := range d.H {
			for i := range min(d.D, d.S-first) {
				x[d.Row(b, h, first+i)*d.D+i] = 1
			}
		}
	}
	return fp8.Quantise(in.v.Format, fp8.PerHead, d, x)
}

// Observe runs a kernel that writes an output format.
func Observe(ctx context.Context, dev device.Device, k *kernel.Kernel, output problem.Format, in *Inputs, say func(done, of int)) (*Side, error) {
	r, err := newRunner(dev, k, output, in)
	if err != nil {
		return nil, err
	}
	defer r.close()
	s := &Side{Name: k.Name, Weight: k.Claims["p"]}
	if s.O, err = r.run(ctx, in.v); err != nil {
		return nil, err
	}
	p := in.problem
	s.P = make([][]float64, len(s.O))
	for first := 0; first < p.Skv; first += p.DimV() {
		say(first, p.Skv)
		v, err := in.identity(first)
		if err != nil {
			return nil, err
		}
		rows, err := r.run(ctx, v)
		if err != nil {
			return nil, err
		}
		for i, row := range rows {
			s.P[i] = append(s.P[i], row[:min(p.DimV(), p.Skv-first)]...)
		}
	}
	return s, nil
}

// runner is a kernel with its memory on a device.
type runner struct {
	in      *Inputs
	output  problem.Format
	plan    *kernel.Plan
	program *device.Program
	memory  []device.Slice
	buffers []device.Buffer
}

func newRunner(dev device.Device, k *kernel.Kernel, output problem.Format, in *Inputs) (r *runner, err error) {
	r = &runner{in: in, output: output}
	if r.program, err = device.LoadProgram(dev, k); err != nil {
		return nil, err
	}
	defer func() {
		if err != nil {
			r.close()
		}
	}()
	p := in.problem
	p.Output = output
	if r.plan, err = r.program.Bind(p, nil); err != nil {
		return nil, err
	}
	for _, m := range r.plan.Memory {
		if m.Strides != nil {
			return r, errors.New("attest diff compares kernels whose operands have no gaps")
		}
		b, err := dev.Alloc(m.Bytes)
		if err != nil {
			return r, err
		}
		r.buffers = append(r.buffers, b)
		r.memory = append(r.memory, device.Slice{Buffer: b})
		if err := b.Write(0, make([]byte, m.Bytes)); err != nil {
			return r, err
		}
	}
	return r, nil
}

func (r *runner) close() {
	for _, b := range r.buffers {
		b.Free()
	}
	r.program.Close()
}

// run runs the kernel with a V and returns the rows of O.
func (r *runner) run(ctx context.Context, v *fp8.Tensor) (rows [][]float64, err error) {
	data := map[string][]byte{
		"q": r.in.q.Data, "k": r.in.k.Data, "v": v.Data,
		"qs": floats(r.in.q.Scales), "ks": floats(r.in.k.Scales), "vs": floats(v.Scales),
	}
	out := -1
	for i, m := range r.plan.Memory {
		switch content, ok := data[m.Name]; {
		case m.Name == "o":
			out = i
			content = make([]byte, m.Bytes)
			for j := range content {
				content[j] = 0xff // NaN, so that an element that is never written shows
			}
			err = r.memory[i].Buffer.Write(0, content)
		case ok:
			err = r.memory[i].Buffer.Write(0, content)
		}
		if err != nil {
			return nil, err
		}
	}
	if out < 0 {
		return nil, errors.New("the kernel has no operand o")
	}
	w, err := r.program.Work(r.plan, r.memory)
	if err != nil {
		return nil, err
	}
	if err := w.Run(ctx); err != nil {
		return nil, err
	}
	got := make([]byte, r.plan.Memory[out].Bytes)
	if err := r.memory[out].Buffer.Read(0, got); err != nil {
		return nil, err
	}
	t, err := tensor(r.output, r.in.problem.O(), got)
	if err != nil {
		return nil, err
	}
	return rowsOf(t), nil
}

// tensor returns the bytes of an output as numbers.
func tensor(f problem.Format, d fp8.Dims, data []byte) (ref.Tensor, error) {
	switch f {
	case problem.F32:
		x := make([]float32, len(data)/4)
		for i := range x {
			x[i] = math.Float32frombits(binary.LittleEndian.Uint32(data[4*i:]))
		}
		return ref.F32(d, x)
	case problem.BF16:
		return ref.BF16(d, data)
	}
	return ref.F16(d, data)
}

func rowsOf(t ref.Tensor) (rows [][]float64) {
	d := t.Dims()
	for i := range d.Rows() {
		row := make([]float64, d.D)
		t.Row(i/d.S/d.H, i/d.S%d.H, i%d.S, row)
		rows = append(rows, row)
	}
	return rows
}

func floats(x []float32) (b []byte) {
	for _, v := range x {
		b = binary.LittleEndian.AppendUint32(b, math.Float32bits(v))
	}
	return b
}

// Reference computes in float64 what a kernel should compute.
func Reference(in *Inputs) *Side {
	p := in.problem
	s := &Side{Name: "the reference", Weight: "f64"}
	q, k, v := rowsOf(in.q), rowsOf(in.k), rowsOf(in.v)
	scale := p.LogitScale()
	for row := range q {
		b, h, i := row/p.Sq/p.Hq, row/p.Sq%p.Hq, row%p.Sq
		at := (b*p.Hkv + h/(p.Hq/p.Hkv)) * p.Skv
		first, last := p.Sees(b, i)
		weights, sum, most := make([]float64, p.Skv), 0.0, math.Inf(-1)
		for j := first; j <= min(last, p.Skv-1); j++ {
			for d, x := range q[row] {
				weights[j] += x * k[at+j][d]
			}
			weights[j] *= scale
			if p.Softcap != 0 {
				weights[j] = p.Softcap * math.Tanh(weights[j]/p.Softcap)
			}
			most = max(most, weights[j])
		}
		for j := first; j <= min(last, p.Skv-1); j++ {
			weights[j] = math.Exp(weights[j] - most)
			sum += weights[j]
		}
		out := make([]float64, p.DimV())
		for j := range weights {
			if sum > 0 {
				weights[j] /= sum
			}
			for d := range out {
				out[d] += weights[j] * v[at+j][d]
			}
		}
		s.P, s.O = append(s.P, weights), append(s.O, out)
	}
	return s
}
