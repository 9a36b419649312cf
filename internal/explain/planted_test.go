package explain

import (
	"bytes"
	"fmt"
	"strings"
	"testing"

	"github.com/GOATnote-Inc/attest/internal/predict"
	"github.com/GOATnote-Inc/attest/internal/term"
)

// bare returns the text of a kernel without line information, as from a compiler without -lineinfo. Each
// thread has the address of its float in %rd1 and in %rd2, its index in %r1, its block in %r2, and %f1 is its input.
func bare(body string) string {
	return `.version 8.0
.target sm_90a
.address_size 64
.visible .entry k(.param .u64 pin, .param .u64 pout)
{
	.reg .b64 %rd<8>;
	.reg .b32 %r<8>;
	.reg .f32 %f<32>;
	.reg .pred %p<4>;
	.shared .align 16 .b8 s[48000];
	ld.param.u64 %rd1, [pin];
	ld.param.u64 %rd2, [pout];
	mov.u32 %r1, %tid.x;
	mov.u32 %r2, %ctaid.x;
	mov.u32 %r3, %ntid.x;
	mad.lo.u32 %r4, %r2, %r3, %r1;
	mul.wide.u32 %rd3, %r4, 4;
	add.u64 %rd1, %rd1, %rd3;
	add.u64 %rd2, %rd2, %rd3;
	ld.global.f32 %f1, [%rd1];
	mov.f32 %f2, %f1;
` + body + `	st.global.f32 [%rd2], %f2;
	ret;
}
`
}

// times repeats lines. %d in them is the number of the copy.
func times(n int, lines string) string {
	var b strings.Builder
	for i := range n {
		b.WriteString(strings.ReplaceAll(lines, "%d", fmt.Sprint(i)))
	}
	return b.String()
}

// rounds is a loop with a number or a register as its count.
func rounds(count, body string) string {
	return "\tmov.u32 %r7, 0;\nloop:\n" + body + "\tadd.u32 %r7, %r7, 1;\n\tsetp.lt.u32 %p3, %r7, " + count + ";\n\t@%p3 bra loop;\n"
}

// work is arithmetic in eight chains.
var work = times(8, chains)

const chains = `	fma.rn.f32 %f10, %f10, %f1, %f1;
	fma.rn.f32 %f11, %f11, %f1, %f1;
	fma.rn.f32 %f12, %f12, %f1, %f1;
	fma.rn.f32 %f13, %f13, %f1, %f1;
	fma.rn.f32 %f14, %f14, %f1, %f1;
	fma.rn.f32 %f15, %f15, %f1, %f1;
	fma.rn.f32 %f16, %f16, %f1, %f1;
	fma.rn.f32 %f17, %f17, %f1, %f1;
`

// TestPlantedBare checks that the first change is about the bottleneck of a kernel without line information.
func TestPlantedBare(t *testing.T) {
	for _, c := range []struct {
		name, body      string
		blocks, threads int
		kind, what      string
		share           float64 // the least share of the time that the change saves
	}{
		{"unrolled chain", rounds("64", times(16, "\tfma.rn.f32 %f2, %f2, %f1, %f1;\n")), 132, 128,
			"serial reduction", "split the serial chain of fma.rn.f32 at PTX lines 24 to 39 (16 copies)", 0.3},
		{"unrolled conflicts", "\tshl.b32 %r5, %r1, 7;\n\tand.b32 %r5, %r5, 4095;\n\tmov.u32 %r6, s;\n\tadd.u32 %r5, %r5, %r6;\n" +
			rounds("16", times(4, "\tld.shared.f32 %f1%d, [%r5+%d00];\n")+times(4, "\tadd.f32 %f2, %f2, %f1%d;\n")), 132, 256,
			"bank conflicts", "(4 copies): 32.0 wavefronts per access, 1.0 without conflicts", 0.6},
		{"unrolled serial reduction", "\tsetp.ne.u32 %p1, %r1, 0;\n\t@%p1 bra over;\n" + times(256, "\tld.shared.f32 %f3, [s+%d00];\n\tadd.f32 %f2, %f2, %f3;\n") + "over:\n\tbar.sync 0;\n", 132, 256,
			"serial code", "share the code at PTX lines 24 to 535, now run by 1 of 256", 0.4},
		{"one busy warp", "\tsetp.gt.u32 %p1, %r1, 31;\n" + rounds("16", "\t@%p1 bra over;\n"+times(4, work)+"over:\n\tbar.sync 0;\n"), 132, 256,
			"serial code", "now run by 32 of 256", 0.4},
		{"divergence", "\tand.b32 %r5, %r1, 7;\n" + rounds("16", times(8, "\tsetp.ne.u32 %p1, %r5, %d;\n\t@%p1 bra over%d;\n"+work+"over%d:\n")), 132, 256,
			"divergence", "on average 4.0 of 32 lanes", 0.5},
		{"tail", rounds("64", work), 140, 1024, "last wave", "one block more on 8 of 132 SMs", 0.3},
		{"few blocks", rounds("64", work), 8, 256, "idle SMs", "which now use 8 of 132 SMs", 0.6},
		{"blocks of different length", "\tmad.lo.u32 %r5, %r2, 2, 2;\n" + rounds("%r5", work), 132, 256, "imbalance", "2.0 times the work", 0.3},
		{"chain of two operations", rounds("128", "\trcp.approx.ftz.f32 %f2, %f2;\n\tadd.f32 %f2, %f2, 0f3F800000;\n"), 132, 128,
			"serial reduction", "split the serial chain of add.f32 and rcp.approx.ftz.f32 at PTX lines 24 to 25 into 4 independent ones", 0.1},
		{"one counter for all", rounds("8", "\tmov.b32 %r5, %f1;\n\tld.param.u64 %rd4, [pout];\n\tatom.global.add.u32 %r6, [%rd4], %r5;\n\tcvt.rn.f32.u32 %f2, %r6;\n"), 264, 256,
			"atomics", "on average 32.0 lanes update one address", 0.3},
		{"strided loads", "\tmul.wide.u32 %rd4, %r4, 28;\n\tadd.u64 %rd1, %rd1, %rd4;\n" +
			rounds("64", "\tld.global.cg.f32 %f3, [%rd1];\n\tadd.f32 %f2, %f2, %f3;\n\tadd.u64 %rd1, %rd1, 4;\n"), 256, 256,
			"coalescing", "it moves 1024 bytes for 128 that are used", 0.2},
	} {
		t.Run(c.name, func(t *testing.T) {
			r := explainText(t, bare(c.body), "k", c.blocks, c.threads)
			if len(r.Changes) == 0 {
				t.Fatal("no change is found")
			}
			first := r.Changes[0]
			if first.Kind != c.kind || !strings.Contains(first.What, c.what) || !(first.Share >= c.share) {
				t.Errorf("the first change is %+v, want %s with %q", first, c.kind, c.what)
			}
		})
	}
}

// TestNotPlanted checks that changes which cannot help are not named.
func TestNotPlanted(t *testing.T) {
	chase := bare(rounds("64", "\tld.global.u32 %r5, [%rd1];\n\tmul.wide.u32 %rd3, %r5, 4;\n\tadd.u64 %rd1, %rd1, %rd3;\n"))
	for _, c := range explainText(t, chase, "k", 132, 128).Changes {
		if c.Kind == "prefetch" {
			t.Errorf("the address of a load depends on the load before: %+v", c)
		}
	}
	address := bare(rounds("64", "\tmov.u32 %r5, s;\n\tadd.u32 %r5, %r5, %r1;\n\tst.shared.u8 [%r5], %r5;\n"))
	for _, c := range explainText(t, address, "k", 132, 128).Changes {
		if c.Kind == "serial reduction" {
			t.Errorf("the sum starts anew in each iteration: %+v", c)
		}
	}
	full := bare(rounds("64", work))
	for _, c := range explainText(t, full, "k", 264, 1024).Changes {
		if c.Kind == "occupancy" || c.Kind == "last wave" || c.Kind == "idle SMs" || c.Kind == "imbalance" || c.Kind == "divergence" || c.Kind == "serial code" {
			t.Errorf("the SMs are full: %+v", c)
		}
	}
	for _, c := range explainText(t, full, "k", 1320, 1024).Changes {
		if c.Kind == "occupancy" {
			t.Errorf("an SM has no room for more threads: %+v", c)
		}
	}
}

// TestContended checks that the text says what the simulation of contended atomics leaves out.
func TestContended(t *testing.T) {
	for shift, want := range map[int]int{0: 67584, 5: 0} {
		k := bare(fmt.Sprintf("\tshr.u32 %%r5, %%r4, 5;\n\tmul.wide.u32 %%rd4, %%r5, %d;\n\tld.param.u64 %%rd5, [pout];\n\tadd.u64 %%rd4, %%rd4, %%rd5;\n\tred.global.add.u32 [%%rd4], 1;\n", shift*4))
		r := explainText(t, k, "k", 264, 256)
		var out bytes.Buffer
		r.WriteText(&out, term.Style{})
		if got := strings.Contains(out.String(), fmt.Sprintf("caution: the predicted time leaves out that %d atomic updates of one address wait", want)); got != (want > 0) {
			t.Errorf("%s", &out)
		}
	}
}

// TestNothing checks that the text names the busiest unit if no change helps.
func TestNothing(t *testing.T) {
	r := &Result{Predicted: &predict.Profile{Chip: "H200", Micros: 32, Floor: 31.2, Limit: predict.DRAM}, Tried: 10}
	var out bytes.Buffer
	r.WriteText(&out, term.Style{})
	if want := "none of 10 simulated changes saves 0.5 % of the time; the busiest unit (dram) alone takes 31.2 µs\n"; !strings.HasSuffix(out.String(), want) {
		t.Errorf("%s", &out)
	}
}

// TestOccupancy checks that blocks per SM are tried that save a wave.
func TestOccupancy(t *testing.T) {
	latency := bare(rounds("32", "\tld.global.cg.f32 %f3, [%rd1];\n"+times(8, "\tfma.rn.f32 %f2, %f2, %f3, %f3;\n")+"\tadd.u64 %rd1, %rd1, 1024;\n"))
	for _, c := range explainText(t, latency, "k", 1056, 64).Changes {
		if c.Kind == "occupancy" && strings.Contains(c.What, "fit 8 blocks on an SM instead of 4: shared memory limits them") && c.Share > 0.3 {
			return
		}
	}
	t.Error("8 blocks per SM are not named")
}
