package cache

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/GOATnote-Inc/attest/device"
	"github.com/GOATnote-Inc/attest/device/emu"
	"github.com/GOATnote-Inc/attest/device/emu/check"
	"github.com/GOATnote-Inc/attest/finding"
	"github.com/GOATnote-Inc/attest/fp8"
	"github.com/GOATnote-Inc/attest/internal/kerneltest"
	"github.com/GOATnote-Inc/attest/kernel"
	"github.com/GOATnote-Inc/attest/problem"
	"github.com/GOATnote-Inc/attest/ptx"
	"github.com/GOATnote-Inc/attest/ref"
)

// step is a step of a server: lengths of the cache before it, and new tokens of each sequence.
type step struct {
	p           Problem
	before, new []int
	k, v        []float32 // [tokens,Hkv,D] and [tokens,Hkv,DV], as the kernel reads them
	ks, vs      []float32 // given scales
	cos, sin    []float32
	places      *ref.Places // where the rows of the cache lie after the step
	operands    map[string][]byte
}

// draw makes a step.
func draw(p Problem, seed uint64) *step {
	r := rand.New(rand.NewPCG(seed, 9))
	s := &step{p: p}
	after := make([]int, p.B)
	for b := range p.B {
		n := p.New
		if p.Tokens == problem.Packed {
			n = r.IntN(p.New + 1)
		}
		s.new = append(s.new, n)
		s.before = append(s.before, r.IntN(p.Skv-n+1))
		after[b] = s.before[b] + n
		s.p.TotalNew += n
	}
	a := problem.Attention{
		Shape: problem.Shape{B: p.B, Hq: p.Hkv, Hkv: p.Hkv, Sq: 1, Skv: p.Skv, D: p.D}, Layout: p.Layout, Keys: p.Keys,
		Batch: problem.Batch{LengthsKV: problem.NewLengths(after), PageSize: p.PageSize, Pages: p.Pages, TableWidth: p.Width},
	}.Filled()
	s.places = ref.NewPlaces(a, seed)
	s.operands = s.places.Operands(a)
	floats := func(n int, by float64) []float32 {
		x := make([]float32, n)
		for i := range x {
			x[i] = float32(by * r.NormFloat64())
		}
		return x
	}
	rows := s.p.TotalNew * p.Hkv
	s.k, s.v = floats(rows*p.D, 3), floats(rows*p.dimV(), 0.1)
	for i := range min(p.dimV(), len(s.v)) {
		s.v[i] = 0 // a row without a scale of its own
	}
	s.k, s.v = widen(p.Input, narrow(p.Input, s.k)), widen(p.Input, narrow(p.Input, s.v))
	for range p.Hkv {
		s.ks, s.vs = append(s.ks, float32(0.01+0.01*r.Float64())), append(s.vs, float32(0.001+0.001*r.Float64()))
	}
	angles := p.ropeDim() / 2
	for i := range p.Skv * angles {
		angle := float64(i/angles) * math.Pow(10000, -float64(i%angles)/float64(angles))
		s.cos, s.sin = append(s.cos, float32(math.Cos(angle))), append(s.sin, float32(math.Sin(angle)))
	}
	return s
}

func narrow(f problem.Format, x []float32) (data []byte) {
	for _, v := range x {
		bits := fp8.F16(v)
		if f == problem.BF16 {
			bits = fp8.BF16(v)
		}
		data = binary.LittleEndian.AppendUint16(data, bits)
	}
	return data
}

func widen(f problem.Format, data []byte) []float32 {
	if f == problem.BF16 {
		return fp8.FromBF16s(data)
	}
	return fp8.FromF16s(data)
}

// rotated returns a row of K after the rotation, with the roundings of the kernel.
func (s *step) rotated(row []float32, position int) []float32 {
	d := s.p.ropeDim()
	out := slices.Clone(row)
	for i := range d / 2 {
		x, y := s.p.Rope.Columns(i, d)
		cos, sin := float64(s.cos[position*d/2+i]), float64(s.sin[position*d/2+i])
		product := func(a float32, b float64) float64 { return float64(float32(float64(a) * b)) }
		out[x] = float32(math.FMA(float64(row[x]), cos, -product(row[y], sin)))
		out[y] = float32(math.FMA(float64(row[y]), cos, product(row[x], sin)))
	}
	return out
}

// want returns the cache and the scales of tokens after the step: rows that were not written are
// 0xff.
func (s *step) want(values bool) (cache, scales []byte) {
	p := s.p
	codec, _ := p.Format.FP8()
	d := fp8.Dims{B: p.B, H: p.Hkv, S: p.Skv, D: p.D}
	if values {
		d.D = p.dimV()
	}
	data, perRow := bytes.Repeat([]byte{0xff}, d.Len()), bytes.Repeat([]byte{0xff}, 4*d.Rows())
	token := 0
	for b, n := range s.new {
		for i := range n {
			position := s.before[b] + i
			for h := range p.Hkv {
				from, scale := s.k, s.ks
				if values {
					from, scale = s.v, s.vs
				}
				row := from[(token*p.Hkv+h)*d.D:][:d.D]
				if !values && p.Rope != "" {
					row = s.rotated(row, position)
				}
				by := scale[0]
				switch p.Scaling {
				case problem.PerHead:
					by = scale[h]
				case problem.PerToken:
					most := float32(0)
					for _, v := range row {
						most = max(most, max(v, -v))
					}
					if by = most / float32(codec.Max()); by < 0x1p-126 {
						by = 1
					}
				}
				at := d.Row(b, h, position)
				binary.LittleEndian.PutUint32(perRow[4*at:], math.Float32bits(by))
				for c, v := range row {
					data[at*d.D+c] = codec.EncodeSatfinite(float64(v / by))
				}
			}
			token++
		}
	}
	return s.places.KV.Scatter(data, d.D), s.places.KV.Scatter(perRow, 4)
}

// run runs a step on a device. It returns the cache and its scales: K, V, scales of K, scales of V.
func (s *step) run(t *testing.T, dev device.Device, spoil func(string) string) (result [4][]byte) {
	t.Helper()
	k, err := New(s.p, ptx.SM89)
	if err != nil {
		t.Fatal(err)
	}
	if spoil != nil {
		k.PTX = spoil(k.PTX)
	}
	program, err := device.LoadProgram(dev, k)
	if err != nil {
		t.Fatal(err)
	}
	plan, err := program.Bind(s.p, nil)
	if err != nil {
		t.Fatal(err)
	}
	offsets := []int{0}
	for _, n := range s.new {
		offsets = append(offsets, offsets[len(offsets)-1]+n)
	}
	data := map[string][]byte{
		"k_new": narrow(s.p.Input, s.k), "v_new": narrow(s.p.Input, s.v), "rope_cos": kerneltest.Bytes(s.cos), "rope_sin": kerneltest.Bytes(s.sin),
		"cache_seqlens": int32s(s.before), "cu_seqlens_k_new": int32s(offsets), "page_table": s.operands["page_table"],
	}
	if s.p.Scaling != problem.PerToken {
		data["ks"], data["vs"] = kerneltest.Bytes(s.ks), kerneltest.Bytes(s.vs)
	}
	buffers, gaps := map[string]device.Buffer{}, map[string]*kernel.Strides{}
	var memory []device.Slice
	for _, m := range plan.Memory {
		content := data[m.Name]
		if content == nil {
			content = bytes.Repeat([]byte{0xff}, int(m.Bytes))
		}
		if m.Strides != nil {
			gaps[m.Name] = m.Strides
		}
		buffers[m.Name] = kerneltest.Buffer(t, dev, content)
		memory = append(memory, device.Slice{Buffer: buffers[m.Name]})
	}
	w, err := program.Work(plan, memory)
	if err == nil {
		err = w.Run(t.Context())
	}
	if err != nil {
		t.Fatal(err)
	}
	for i, name := range []string{"k", "v", "ks", "vs"} {
		result[i] = kerneltest.Read(t, buffers[name])
		if s := gaps[name]; s != nil {
			all := result[i]
			result[i] = s.Compact(all)
			if !bytes.Equal(s.Spread(result[i], int64(len(all)), 0xff), all) {
				t.Errorf("%+v: a gap of %s was written", s, name)
			}
		}
	}
	return result
}

func int32s(list []int) (data []byte) {
	for _, n := range list {
		data = binary.LittleEndian.AppendUint32(data, uint32(n))
	}
	return data
}

// problems returns the combinations of options, with small sizes.
func problems() (list []Problem) {
	scalings := []problem.Scaling{problem.PerTensor, problem.PerHead, problem.PerToken}
	ropes := []problem.Rotation{"", problem.RotateHalves, problem.RotatePairs}
	for i := range 18 {
		list = append(list, Problem{
			B: 1 + i%3, Hkv: 1 + i%2*2, D: []int{64, 128, 256}[i/6], New: []int{1, 4, 9}[i%3], Skv: 70, Pages: 30, PageSize: []int{16, 1, 32}[i/2%3],
			Input: []problem.Format{problem.F16, problem.BF16}[i/3%2], Format: []problem.Format{problem.E4M3, problem.E5M2}[i/2%2], Scaling: scalings[i%3],
			Layout: []problem.Layout{problem.BSHD, problem.BHSD}[i/3%2], Keys: []problem.Placement{problem.Paged, problem.Paged, problem.Padded}[i/2%3],
			Tokens: []problem.Placement{problem.Uniform, problem.Packed}[i/4%2], Rope: ropes[(i+i/3)%3],
		})
		if p := &list[i]; p.PageSize == 1 {
			p.Pages = 250
		}
	}
	for i, heads := range []problem.HeadDim{{D: 192, DV: 128}, {D: 64, DV: 96}, {D: 96}, {D: 128}, {D: 192, DV: 256}, {D: 96, DV: 64}} {
		p := list[3*i]
		p.D, p.DV, p.Rope, p.RopeDim = heads.D, heads.DV, ropes[1+i%2], []int{64, 16, 0, 48, 176, 96}[i]
		if i%2 == 0 {
			p.Gaps.K, p.Gaps.V = problem.Gap{30, 2, heads.D}, problem.Gap{0, 8, 16}
		}
		list = append(list, p)
	}
	return list
}

// TestAppend compares every byte of the cache with float arithmetic in Go, under every checker.
func TestAppend(t *testing.T) {
	for i, p := range problems() {
		s := draw(p, uint64(i))
		checker := check.New()
		dev := kerneltest.Emulator(t, ptx.SM90, emu.Options{Schedule: uint64(i % 4), Observer: checker})
		s.judge(t, dev)
		for _, f := range checker.Findings() {
			t.Errorf("%+v: %v", p, f)
		}
	}
}

// TestCardAppend compares every byte on a GPU.
func TestCardAppend(t *testing.T) {
	card := kerneltest.Card(t, ptx.SM89)
	for i, p := range problems() {
		draw(p, uint64(i)).judge(t, card)
	}
}

// judge wants the cache to be as Go computes it.
func (s *step) judge(t *testing.T, dev device.Device) {
	t.Helper()
	got := s.run(t, dev, nil)
	for i, values := range []bool{false, true} {
		cache, scales := s.want(values)
		if n := differ(got[i], cache); n > 0 {
			t.Errorf("%+v: %d bytes of %s differ", s.p, n, []string{"K", "V"}[i])
		}
		if n := differ(got[2+i], scales); s.p.Scaling == problem.PerToken && n > 0 {
			t.Errorf("%+v: %d bytes of the scales of %s differ", s.p, n, []string{"K", "V"}[i])
		}
	}
}

func differ(a, b []byte) (n int) {
	if len(a) != len(b) {
		return max(len(a), len(b))
	}
	for i := range a {
		if a[i] != b[i] {
			n++
		}
	}
	return n
}

// TestFullCache does not store tokens for which a sequence has no room.
func TestFullCache(t *testing.T) {
	p := Problem{B: 1, Hkv: 1, D: 64, New: 4, Skv: 32, Pages: 2, PageSize: 16, Input: problem.F16, Format: problem.E4M3,
		Scaling: problem.PerToken, Layout: problem.BSHD, Keys: problem.Paged}
	s := draw(p, 1)
	s.before[0] = 30
	var findings []finding.Finding
	checker := check.New()
	got := s.run(t, kerneltest.Emulator(t, ptx.SM90, emu.Options{Observer: checker}), nil)
	if findings = checker.Findings(); len(findings) > 0 {
		t.Error(findings)
	}
	written := 0
	for row := range 32 {
		if !bytes.Equal(got[0][row*64:][:64], bytes.Repeat([]byte{0xff}, 64)) {
			written++
		}
	}
	if written != 2 {
		t.Errorf("%d rows were written, 2 have room", written)
	}
}

// TestTokensBehindTheLast does not store tokens behind those of the last sequence, as in a CUDA graph that
// was captured for more tokens.
func TestTokensBehindTheLast(t *testing.T) {
	p := Problem{B: 3, Hkv: 2, D: 64, New: 4, Skv: 70, Pages: 20, PageSize: 16, Width: 7, Input: problem.F16, Format: problem.E4M3,
		Scaling: problem.PerToken, Layout: problem.BSHD, Keys: problem.Paged, Tokens: problem.Packed}
	s := draw(p, 4)
	dev := kerneltest.Emulator(t, ptx.SM90, emu.Options{})
	s.judge(t, dev)
	s.p.TotalNew += 9
	more := slices.Repeat([]float32{1}, 9*p.Hkv*p.D)
	s.k, s.v = append(s.k, more...), append(s.v, more...)
	s.judge(t, dev)
}

// TestMutants changes the kernel in ways that TestAppend must notice.
func TestMutants(t *testing.T) {
	p := Problem{B: 2, Hkv: 2, D: 128, New: 3, Skv: 64, Pages: 10, PageSize: 16, Input: problem.BF16, Format: problem.E4M3,
		Scaling: problem.PerToken, Layout: problem.BSHD, Keys: problem.Paged, Tokens: problem.Packed, Rope: problem.RotateHalves}
	for _, m := range [][2]string{
		{"neg.f32", "mov.f32"}, {"max.f32", "min.f32"}, {"setp.le.u32", "setp.lt.u32"}, {"shfl.sync.bfly.b32", "shfl.sync.down.b32"}, {"div.rn.f32", "mul.rn.f32"},
	} {
		s := draw(p, 3)
		for seed := uint64(4); slices.Min(s.new) == 0; seed++ { // both sequences have new tokens
			s = draw(p, seed)
		}
		dev := kerneltest.Emulator(t, ptx.SM90, emu.Options{})
		got := s.run(t, dev, func(text string) string {
			if !strings.Contains(text, m[0]) {
				t.Fatalf("no %s in the kernel", m[0])
			}
			return strings.ReplaceAll(text, m[0], m[1])
		})
		same := true
		for i, values := range []bool{false, true} {
			cache, scales := s.want(values)
			same = same && bytes.Equal(got[i], cache) && bytes.Equal(got[2+i], scales)
		}
		if same {
			t.Errorf("%s instead of %s gives the same bytes", m[1], m[0])
		}
	}
}

// TestRefuses gives problems that no kernel computes.
func TestRefuses(t *testing.T) {
	good := problems()[0]
	for want, change := range map[string]func(*Problem){
		"head dimension 80":   func(p *Problem) { p.D = 80 },
		"head dimension 64/8": func(p *Problem) { p.DV = 8 },
		"72 rotated columns":  func(p *Problem) { p.Rope, p.RopeDim = problem.RotatePairs, 72 },
		"80 rotated columns":  func(p *Problem) { p.Rope, p.RopeDim = problem.RotatePairs, 80 },
		"use even numbers":    func(p *Problem) { p.Gaps.V[1] = 3 },
		"without a rotation":  func(p *Problem) { p.Rope, p.RopeDim = "", 32 },
		`new tokens in "f32"`: func(p *Problem) { p.Input = problem.F32 },
		`a cache in "u8"`:     func(p *Problem) { p.Format = problem.U8 },
		`scaling "per-block"`: func(p *Problem) { p.Scaling = problem.PerBlock },
		`"packed": use`:       func(p *Problem) { p.Keys = problem.Packed },
		"a page table of 2":   func(p *Problem) { p.Keys, p.PageSize, p.Pages, p.Width = problem.Paged, 16, 9, 2 },
		"0 pages of 16 rows":  func(p *Problem) { p.Pages, p.PageSize = 0, 16 },
	} {
		p := good
		change(&p)
		if _, err := New(p, ptx.SM89); err == nil || !strings.Contains(fmt.Sprint(err), want) {
			t.Errorf("%v, want %q", err, want)
		}
	}
	if _, err := New(good, ptx.SM80); err == nil || !strings.Contains(err.Error(), "sm_89") {
		t.Error(err)
	}
}
