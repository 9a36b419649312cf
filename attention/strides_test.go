package attention

import (
	"bytes"
	"context"
	"strings"
	"testing"

	"github.com/GOATnote-Inc/attest/device"
	"github.com/GOATnote-Inc/attest/fp8"
	"github.com/GOATnote-Inc/attest/problem"
	"github.com/GOATnote-Inc/attest/ptx"
	"github.com/GOATnote-Inc/attest/ref"
)

// TestCacheInOneTensor runs decode over a cache as vLLM keeps it, [pages,heads,rows,2·D]: each row of K is
// followed by the row of V. The bits are those of contiguous tensors.
func TestCacheInOneTensor(t *testing.T) {
	dev := open(t, ptx.SM89)
	p := Problem{
		Shape: Shape{B: 2, Hq: 4, Hkv: 2, Sq: 1, Skv: 100, D: 64}, Keys: problem.Paged, LSE: true,
		Batch: problem.Batch{LengthsKV: "100,37", PageSize: 16, Pages: 11},
	}.Filled()
	x, err := inputs(t, p).Quantise(codec(p), fp8.PerHead)
	if err != nil {
		t.Fatal(err)
	}
	places := ref.NewPlaces(p, 1)
	k, v := places.KV.Scatter(x.K.Data, p.D), places.KV.Scatter(x.V.Data, p.D)
	var both []byte
	for row := 0; row < len(k); row += p.D {
		both = append(append(both, k[row:row+p.D]...), v[row:row+p.D]...)
	}
	cache := upload(t, dev, both)
	of := places.Operands(p)
	b := Buffers{
		Q: upload(t, dev, x.Q.Data), K: upload(t, dev, k), V: upload(t, dev, v), Qs: upload(t, dev, bytesOf(x.Q.Scales)), Ks: upload(t, dev, bytesOf(x.K.Scales)),
		Vs: upload(t, dev, bytesOf(x.V.Scales)), SeqUsedK: upload(t, dev, of["seqused_k"]), PageTable: upload(t, dev, of["page_table"]),
		O: upload(t, dev, make([]byte, 2*p.O().Len())), LSE: upload(t, dev, make([]byte, 4*p.O().Rows())),
	}
	run := func(p Problem) (result []byte) {
		op := newTestOp(t, dev, p, Options{Kernel: "decode"})
		if err := op.Launch(context.Background(), b); err != nil {
			t.Fatal(err)
		}
		for _, from := range []device.Buffer{b.O, b.LSE} {
			data := make([]byte, from.Size())
			if err := from.Read(0, data); err != nil {
				t.Fatal(err)
			}
			result = append(result, data...)
		}
		return result
	}
	want := run(p)
	strided, row := p, 2*p.D
	for i, tensor := range []string{"k", "v"} {
		if strided, err = strided.WithStrides(tensor, p.Hkv*p.PageSize*row, p.PageSize*row, row); err != nil {
			t.Fatal(err)
		}
		at, err := device.View(cache, int64(i*p.D), cache.Size()-int64(i*p.D))
		if err != nil {
			t.Fatal(err)
		}
		*b.at(tensor) = at
	}
	if !bytes.Equal(run(strided), want) {
		t.Error("a cache in one tensor gives other bits than two contiguous ones")
	}
	small, err := device.View(cache, 0, 16*2*int64(row))
	if err != nil {
		t.Fatal(err)
	}
	b.K = small
	if err := newTestOp(t, dev, strided, Options{}).Launch(context.Background(), b); err == nil || !strings.Contains(err.Error(), "buffer k has 4096 bytes") {
		t.Errorf("a small view: %v", err)
	}
}

// TestStridesRefused gives strides that no kernel computes.
func TestStridesRefused(t *testing.T) {
	p := Problem{Shape: Shape{B: 1, Hq: 1, Hkv: 1, Sq: 1, Skv: 100, D: 64}}
	odd, err := p.WithStrides("k", 6800, 6800, 68)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := New(open(t, ptx.SM89), odd); err == nil || !strings.Contains(err.Error(), "the strides of k must be multiples of 16 elements") {
		t.Error(err)
	}
	if _, err := NewWith(open(t, ptx.SM89), odd, Options{Kernel: "ada"}); err == nil || !strings.Contains(err.Error(), "must be contiguous") {
		t.Error(err)
	}
}

// upload returns device memory with some content. It is freed when the test ends.
func upload(t *testing.T, dev device.Device, data []byte) device.Buffer {
	t.Helper()
	buf, err := dev.Alloc(int64(len(data)))
	if err == nil {
		t.Cleanup(func() { buf.Free() })
		err = buf.Write(0, data)
	}
	if err != nil {
		t.Fatal(err)
	}
	return buf
}
