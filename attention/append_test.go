package attention

import (
	"bytes"
	"context"
	"encoding/binary"
	"errors"
	"math"
	"strings"
	"testing"

	"github.com/GOATnote-Inc/attest/device"
	"github.com/GOATnote-Inc/attest/fp8"
	"github.com/GOATnote-Inc/attest/problem"
	"github.com/GOATnote-Inc/attest/ptx"
	"github.com/GOATnote-Inc/attest/ref"
)

// readAll returns the content of a buffer.
func readAll(t *testing.T, buf device.Buffer) []byte {
	t.Helper()
	data := make([]byte, buf.Size())
	if err := buf.Read(0, data); err != nil {
		t.Fatal(err)
	}
	return data
}

// uploadInts is upload for 32-bit integers.
func uploadInts(t *testing.T, dev device.Device, list ...int) device.Buffer {
	t.Helper()
	buf := upload(t, dev, make([]byte, 4*len(list)))
	ints(t, buf, list...)
	return buf
}

// TestAppend fills a paged cache from host memory, and again by appending tokens in three steps, and decodes both.
// One graph holds a step, appending and decoding, for the most tokens of any step. The bytes of both caches, and
// the bits of both results, must be the same.
func TestAppend(t *testing.T) {
	dev := open(t, ptx.SM89)
	p := Problem{
		Shape: Shape{B: 3, Hq: 4, Hkv: 2, Sq: 1, Skv: 90, D: 64}, Layout: problem.BSHD, Keys: problem.Paged, Scaling: problem.PerToken, FormatQ: problem.F16, LSE: true,
		Batch: problem.Batch{LengthsKV: "90,0,37", PageSize: 16, Pages: 11, TableWidth: 7},
	}.Filled()
	in, places := inputs(t, p), ref.NewPlaces(p, 1)
	x, err := in.Quantise(codec(p), fp8.PerBlock(1))
	if err != nil {
		t.Fatal(err)
	}
	for tensor, from := range map[*fp8.Tensor]*ref.Floats{x.K: in.K, x.V: in.V} {
		for i, v := range from.Data { // the kernel divides in f32
			tensor.Data[i] = codec(p).EncodeSatfinite(float64(v / tensor.Scales[i/p.D]))
		}
	}
	of := places.Operands(p)
	var q []byte
	for _, v := range in.Q.Data {
		q = binary.LittleEndian.AppendUint16(q, fp8.F16(v))
	}
	want := [4][]byte{places.KV.Scatter(x.K.Data, p.D), places.KV.Scatter(x.V.Data, p.D), places.KVs.Scatter(bytesOf(x.K.Scales), 4), places.KVs.Scatter(bytesOf(x.V.Scales), 4)}
	decodes := newTestOp(t, dev, p, Options{Kernel: "decode"})
	b := Buffers{
		Q: upload(t, dev, places.Q.Scatter(q, 2*p.D)), SeqUsedK: upload(t, dev, of["seqused_k"]), PageTable: upload(t, dev, of["page_table"]),
		K: upload(t, dev, want[0]), V: upload(t, dev, want[1]), Ks: upload(t, dev, want[2]), Vs: upload(t, dev, want[3]),
		O: upload(t, dev, make([]byte, 2*p.O().Len())), LSE: upload(t, dev, make([]byte, 4*p.O().Rows())),
	}
	if err := decodes.Launch(context.Background(), b); err != nil {
		t.Fatal(err)
	}
	o, lse := readAll(t, b.O), readAll(t, b.LSE)

	to := AppendTo(p, problem.F16, 60)
	to.Tokens, to.TotalNew = problem.Packed, 100
	appends, err := NewAppend(dev, to)
	if err != nil {
		t.Fatal(err)
	}
	defer appends.Close()
	nan := func(n int) device.Buffer { return upload(t, dev, bytes.Repeat([]byte{0xff}, n)) }
	b.K, b.V, b.Ks, b.Vs = nan(len(want[0])), nan(len(want[1])), nan(len(want[2])), nan(len(want[3]))
	tokens := AppendBuffers{
		KNew: nan(2 * to.TotalNew * p.Hkv * p.D), VNew: nan(2 * to.TotalNew * p.Hkv * p.D), K: b.K, V: b.V, Ks: b.Ks, Vs: b.Vs,
		CacheSeqlens: uploadInts(t, dev, 0, 0, 0), CuSeqlensKNew: uploadInts(t, dev, 0, 0, 0, 0), PageTable: b.PageTable,
	}
	first, err := appends.Plan(to, tokens)
	if err != nil {
		t.Fatal(err)
	}
	second, err := decodes.Plan(p, b)
	if err != nil {
		t.Fatal(err)
	}
	graph, err := dev.(device.Streamer).NewGraph(func(s device.Stream) error { return errors.Join(first.Queue(s), second.Queue(s)) })
	if err != nil {
		t.Fatal(err)
	}
	defer graph.Close()
	stream, err := dev.(device.Streamer).NewStream()
	if err != nil {
		t.Fatal(err)
	}
	before := []int{0, 0, 0}
	for _, after := range [][]int{{40, 0, 30}, {41, 0, 30}, {90, 0, 37}} {
		for _, one := range []struct {
			from *ref.Floats
			to   device.Buffer
		}{{in.K, tokens.KNew}, {in.V, tokens.VNew}} {
			if err := one.to.Write(0, newTokens(one.from, before, after)); err != nil {
				t.Fatal(err)
			}
		}
		ints(t, tokens.CacheSeqlens, before...)
		ints(t, b.SeqUsedK, after...)
		ints(t, tokens.CuSeqlensKNew, 0, after[0]-before[0], after[0]-before[0], after[0]-before[0]+after[2]-before[2])
		if err := errors.Join(graph.Replay(stream), stream.Sync(context.Background())); err != nil {
			t.Fatal(err)
		}
		before = after
	}
	for i, buf := range []device.Buffer{b.K, b.V, b.Ks, b.Vs} {
		if !bytes.Equal(readAll(t, buf), want[i]) {
			t.Errorf("%s differs from the cache of the host", []string{"K", "V", "Ks", "Vs"}[i])
		}
	}
	if !bytes.Equal(readAll(t, b.O), o) || !bytes.Equal(readAll(t, b.LSE), lse) {
		t.Error("the result differs from that over the cache of the host")
	}
}

// newTokens returns the rows of sequences from some lengths to others, packed, in f16.
func newTokens(x *ref.Floats, from, to []int) (data []byte) {
	row := make([]float64, x.Shape.D)
	for b := range from {
		for s := from[b]; s < to[b]; s++ {
			for h := range x.Shape.H {
				x.Row(b, h, s, row)
				for _, v := range row {
					data = binary.LittleEndian.AppendUint16(data, fp8.F16(float32(v)))
				}
			}
		}
	}
	return data
}

// TestMerge computes a shared prefix and the rest of the keys as parts of one buffer, merges them in the same
// graph, and compares with attention over all keys. Sequence 1 has no key besides the prefix.
func TestMerge(t *testing.T) {
	dev := open(t, ptx.SM89)
	const prefix = 130
	for _, queries := range []problem.Placement{problem.Uniform, problem.Packed} {
		all := Problem{
			Shape: Shape{B: 2, Hq: 4, Hkv: 2, Sq: 3, Skv: 230, D: 128}, Layout: problem.BSHD, Queries: queries, Keys: problem.Padded, LSE: true,
			Batch: problem.Batch{LengthsKV: "230,130"},
		}.Filled()
		x, err := inputs(t, all).Quantise(codec(all), fp8.PerHead)
		if err != nil {
			t.Fatal(err)
		}
		m, err := MergeOf(all, 2)
		if err != nil {
			t.Fatal(err)
		}
		merges, err := NewMerge(dev, m)
		if err != nil {
			t.Fatal(err)
		}
		defer merges.Close()
		o, sums := 2*all.O().Len(), 4*all.O().Rows()
		b := MergeBuffers{PartsO: upload(t, dev, make([]byte, 2*o)), PartsLSE: upload(t, dev, make([]byte, 2*sums)), O: upload(t, dev, make([]byte, o)), LSE: upload(t, dev, make([]byte, sums))}
		var plans []*Plan
		for i, keys := range [][2]int{{0, prefix}, {prefix, 230}} {
			plans = append(plans, planPart(t, dev, all, x, keys, view(t, b.PartsO, i*o, o), view(t, b.PartsLSE, i*sums, sums)))
		}
		last, err := merges.Plan(m, b)
		if err != nil {
			t.Fatal(err)
		}
		stream, err := dev.(device.Streamer).NewStream()
		if err != nil {
			t.Fatal(err)
		}
		graph, err := dev.(device.Streamer).NewGraph(func(s device.Stream) error {
			return errors.Join(plans[0].Queue(s), plans[1].Queue(s), last.Queue(s))
		})
		if err == nil {
			defer graph.Close()
			err = errors.Join(graph.Replay(stream), stream.Sync(context.Background()))
		}
		if err != nil {
			t.Fatal(err)
		}
		compareMerged(t, all, x, readAll(t, b.O), readAll(t, b.LSE))
	}
}

// planPart plans the attention over some of the keys.
func planPart(t *testing.T, dev device.Device, p Problem, x *ref.Quantised, keys [2]int, o, lse device.Buffer) *Plan {
	t.Helper()
	all, places := x.K, ref.NewPlaces(p, 1)
	var lengths []int
	for _, n := range p.KeyLengths() {
		lengths = append(lengths, min(max(n-keys[0], 0), keys[1]-keys[0]))
	}
	p.Skv, p.LengthsKV = keys[1]-keys[0], problem.NewLengths(lengths)
	some := ref.NewPlaces(p, 1)
	cut := func(data []byte) (rows []byte) {
		for i := 0; i < len(data); i += all.Shape.S * p.D {
			rows = append(rows, data[i+keys[0]*p.D:i+keys[1]*p.D]...)
		}
		return some.KV.Scatter(rows, p.D)
	}
	of := some.Operands(p)
	op := newTestOp(t, dev, p, Options{Kernel: "decode"})
	plan, err := op.Plan(p, Buffers{
		Q: upload(t, dev, places.Q.Scatter(x.Q.Data, p.D)), K: upload(t, dev, cut(x.K.Data)), V: upload(t, dev, cut(x.V.Data)), Qs: upload(t, dev, bytesOf(x.Q.Scales)),
		Ks: upload(t, dev, bytesOf(x.K.Scales)), Vs: upload(t, dev, bytesOf(x.V.Scales)), SeqUsedK: upload(t, dev, of["seqused_k"]), CuSeqlensQ: upload(t, dev, of["cu_seqlens_q"]),
		O: o, LSE: lse,
	})
	if err != nil {
		t.Fatal(err)
	}
	return plan
}

// compareMerged compares a merged result with float64 over all keys.
func compareMerged(t *testing.T, p Problem, x *ref.Quantised, o, lse []byte) {
	t.Helper()
	want, err := ref.Attention(context.Background(), x.Q, x.K, x.V, ref.For(p))
	if err != nil {
		t.Fatal(err)
	}
	places := ref.NewPlaces(p, 1)
	got, err := ref.F16(p.O(), places.Q.Gather(o, 2*p.D))
	if err != nil {
		t.Fatal(err)
	}
	if e, err := want.Compare(got, ref.CompareOptions{Tol: 0.004}); err != nil || e.Bad > 0 {
		t.Errorf("%v: %v, %v", p, e, err)
	}
	for i, sum := range float32s(places.LSE.Gather(lse, 4)) {
		if math.Abs(float64(sum)-want.LSE[i]) > 1e-3 {
			t.Errorf("%v: the LSE of row %d is %g, want %g", p, i, sum, want.LSE[i])
		}
	}
}

// view returns a range of a buffer.
func view(t *testing.T, of device.Buffer, offset, size int) device.Buffer {
	t.Helper()
	v, err := device.View(of, int64(offset), int64(size))
	if err != nil {
		t.Fatal(err)
	}
	return v
}

// TestAppendRefuses gives problems and buffers that do not fit.
func TestAppendRefuses(t *testing.T) {
	dev := open(t, ptx.SM89)
	cached := Problem{Shape: Shape{B: 2, Hq: 4, Hkv: 2, Sq: 1, Skv: 64, D: 64}, Keys: problem.Padded}
	good := AppendTo(cached, problem.F16, 1)
	a, err := NewAppend(dev, good)
	if err != nil {
		t.Fatal(err)
	}
	other := good
	other.Rope = problem.RotatePairs
	huge := good
	huge.B = 1 << 28
	none := good
	none.B = 0
	_, refused := NewAppend(dev, AppendTo(Problem{Shape: cached.Shape}, problem.F16, 1))
	plan := func(p AppendProblem, b AppendBuffers) error {
		_, err := a.Plan(p, b)
		return err
	}
	for want, err := range map[string]error{
		"use paged or padded":      refused,
		"rope is pairs":            plan(other, AppendBuffers{}),
		"at most 2147483647 rows":  plan(huge, AppendBuffers{}),
		"0 sequences":              plan(none, AppendBuffers{}),
		"buffer k_new is missing":  plan(good, AppendBuffers{}),
		"buffer k_new has 4 bytes": a.Launch(context.Background(), AppendBuffers{KNew: uploadInts(t, dev, 1)}),
	} {
		if err == nil || !strings.HasPrefix(err.Error(), "attention: ") || !strings.Contains(err.Error(), want) {
			t.Errorf("%v, want %q", err, want)
		}
	}
	if err := errors.Join(a.Close(), a.Close()); err != nil {
		t.Error(err)
	}
	if err := plan(good, AppendBuffers{}); !errors.Is(err, ErrClosed) {
		t.Error(err)
	}
}

// TestMergeRefuses gives results that cannot be merged.
func TestMergeRefuses(t *testing.T) {
	good := Problem{Shape: Square(1, 2, 3, 64), LSE: true}
	for want, change := range map[string]func(*Problem){
		"set LSE":                       func(p *Problem) { p.LSE = false },
		"leave out the sinks":           func(p *Problem) { p.Sinks = true },
		"use contiguous ones":           func(p *Problem) { p.Gaps.O[2] = 16 },
		"every extent must be at least": func(p *Problem) { p.B, p.Hq, p.Hkv = -1, -2, -2 },
	} {
		p := good
		change(&p)
		if _, err := MergeOf(p, 2); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%v, want %q", err, want)
		}
	}
	p, err := MergeOf(good, 2)
	if err != nil {
		t.Fatal(err)
	}
	dev := open(t, ptx.SM80)
	m, err := NewMerge(dev, p)
	if err != nil {
		t.Fatal(err)
	}
	defer m.Close()
	if err := m.Launch(context.Background(), MergeBuffers{}); err == nil || !strings.Contains(err.Error(), "buffer parts_o is missing") {
		t.Error(err)
	}
}

// TestStepAllocatesNothing queues plans that append and merge many times.
func TestStepAllocatesNothing(t *testing.T) {
	dev := open(t, ptx.SM89)
	p := Problem{Shape: Shape{B: 2, Hq: 4, Hkv: 2, Sq: 1, Skv: 64, D: 64}, Keys: problem.Padded, LSE: true}
	a, err := NewAppend(dev, AppendTo(p, problem.F16, 1))
	if err != nil {
		t.Fatal(err)
	}
	defer a.Close()
	of, err := MergeOf(p, 2)
	if err != nil {
		t.Fatal(err)
	}
	m, err := NewMerge(dev, of)
	if err != nil {
		t.Fatal(err)
	}
	defer m.Close()
	buf := upload(t, dev, make([]byte, 1<<15))
	appends, err := a.Plan(a.problem, AppendBuffers{KNew: buf, VNew: buf, K: buf, V: buf, Ks: buf, Vs: buf, CacheSeqlens: buf})
	if err != nil {
		t.Fatal(err)
	}
	merges, err := m.Plan(of, MergeBuffers{PartsO: buf, PartsLSE: buf, O: buf, LSE: buf})
	if err != nil {
		t.Fatal(err)
	}
	var stream device.Stream = &idle{}
	if n := testing.AllocsPerRun(100, func() { appends.Queue(stream); merges.Queue(stream) }); n != 0 {
		t.Errorf("%v allocations per step, want none", n)
	}
}
