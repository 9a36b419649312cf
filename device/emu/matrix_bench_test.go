package emu

import (
	"context"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/GOATnote-Inc/attest/device"
	"github.com/GOATnote-Inc/attest/device/emu/internal/ops"
	"github.com/GOATnote-Inc/attest/ptx"
	"github.com/GOATnote-Inc/attest/ptx/isa"
)

// variant returns the form of an opcode.
func variant(b *testing.B, opcode string) isa.Match {
	b.Helper()
	ms := isa.Lookup(ptx.NewOpcode(opcode))
	if len(ms) == 0 {
		b.Fatalf("no form %s", opcode)
	}
	return ms[0]
}

// benchProduct runs a kernel repeatedly on one block and reports floating-point operations
// per second.
func benchProduct(b *testing.B, text string, block, shared, flops int, params func(d *Device) []device.Param) {
	b.Helper()
	d := deviceFor(b, ptx.SM90a, Options{})
	m, err := d.Load("bench.ptx", text)
	if err != nil {
		b.Fatal(err)
	}
	k, err := m.Kernel("k")
	if err != nil {
		b.Fatal(err)
	}
	l := device.Launch{Block: device.D(block), Shared: shared, Params: params(d)}
	for b.Loop() {
		if err := k.Launch(context.Background(), l); err != nil {
			b.Fatal(err)
		}
	}
	b.ReportMetric(float64(flops)*float64(b.N)/b.Elapsed().Seconds()/1e9, "GFLOP/s")
}

const benchRepeat = 256

// repeatInst repeats the instruction with an opcode many times in a text.
func repeatInst(text, opcode string) string {
	at := strings.Index(text, opcode)
	line := text[at : at+strings.Index(text[at:], ";\n")+2]
	return strings.Replace(text, line, strings.Repeat(line, benchRepeat), 1)
}

// BenchmarkWgmma multiplies tiles of e4m3, f16 and bf16 from shared memory.
func BenchmarkWgmma(b *testing.B) {
	for _, c := range []struct{ op, tail string }{
		{"wgmma.mma_async.sync.aligned.m64n128k32.f32.e4m3.e4m3", ", 1, 1"},
		{"wgmma.mma_async.sync.aligned.m64n128k16.f32.f16.f16", ", 1, 1, 0, 0"},
		{"wgmma.mma_async.sync.aligned.m64n128k16.f32.bf16.bf16", ", 1, 1, 0, 0"},
	} {
		b.Run(c.op, func(b *testing.B) {
			m := variant(b, c.op)
			x := &isa.Bound{Inst: &ptx.Inst{Op: m.Opcode()}, Match: m}
			s, ts := ops.Shape(x), ops.Types(x)
			r := rand.New(rand.NewPCG(1, 2))
			image := make([]byte, wgmmaRoom)
			ta, tb := &sharedTile{swizzle: device.Swizzle128B, sbo: 1024}, &sharedTile{swizzle: device.Swizzle128B, start: 24 << 10, sbo: 1024}
			ta.put(image, randomMatrix(r, ts[1], s.M, s.K))
			tb.put(image, randomMatrix(r, ts[2], s.N, s.K))
			text := repeatInst(wgmmaText(m, 0, c.tail), c.op)
			benchProduct(b, text, 128, wgmmaRoom, 2*s.M*s.N*s.K*benchRepeat, func(d *Device) []device.Param {
				return []device.Param{device.Ptr(bufferWith(b, d, image)), device.Ptr(bufferWith(b, d, make([]byte, 64<<10))),
					device.Ptr(bufferWith(b, d, make([]byte, 128<<10))), device.U64(ta.desc()), device.U64(tb.desc()), device.U32(1)}
			})
		})
	}
}

// BenchmarkMMA multiplies fragments in registers.
func BenchmarkMMA(b *testing.B) {
	for _, op := range []string{
		"mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32",
		"mma.sync.aligned.m16n8k16.row.col.f32.bf16.bf16.f32",
		"mma.sync.aligned.m16n8k32.row.col.f32.e4m3.e4m3.f32",
		"mma.sync.aligned.m16n8k32.row.col.s32.s8.s8.s32",
	} {
		b.Run(op, func(b *testing.B) {
			m := variant(b, op)
			x := &isa.Bound{Inst: &ptx.Inst{Op: m.Opcode()}, Match: m}
			s := ops.Shape(x)
			in := make([]byte, 16*256)
			r := rand.New(rand.NewPCG(1, 2))
			for i := range in {
				in[i] = byte(r.Uint32()) & 0x3f
			}
			benchProduct(b, repeatInst(productText(m, 0), op), 32, 0, 2*s.M*s.N*s.K*benchRepeat, func(d *Device) []device.Param {
				return []device.Param{device.Ptr(bufferWith(b, d, in)), device.Ptr(bufferWith(b, d, make([]byte, 4096)))}
			})
		})
	}
}
