package emu

import (
	"strings"
	"testing"

	"github.com/GOATnote-Inc/attest/device"
	"github.com/GOATnote-Inc/attest/ptx"
)

// remoteText is a kernel that writes asynchronously to the block's own shared memory.
const remoteText = `.version 8.6
.target sm_90a
.address_size 64
.visible .entry k(.param .u64 p) DIRECTIVE
{
	.reg .b32 %own, %bar, %r0;
	.reg .b64 %state;
	.reg .pred %over;
	.shared .align 16 .b8 s[64];
	.shared .align 8 .b8 m[8];
	mov.u32 %own, s;
	mov.u32 %bar, m;
	mov.u32 %r0, 7;
	mbarrier.init.shared.b64 [%bar], 1;
	mapa.shared::cluster.u32 %own, %own, 0;
	mapa.shared::cluster.u32 %bar, %bar, 0;
	mbarrier.arrive.expect_tx.shared.b64 %state, [m], BYTES;
	WRITE
poll:
	mbarrier.try_wait.parity.shared.b64 %over, [m], 0;
	@!%over bra poll;
	ret;
}
`

// TestOutsideClusters checks that st.async and red.async fault, as on a GPU, unless the
// kernel is compiled for clusters.
func TestOutsideClusters(t *testing.T) {
	for _, c := range []struct{ bytes, write string }{
		{"4", "st.async.shared::cluster.mbarrier::complete_tx::bytes.u32 [%own], %r0, [%bar];"},
		{"4", "red.async.relaxed.cluster.shared::cluster.mbarrier::complete_tx::bytes.add.u32 [%own], %r0, [%bar];"},
		{"16", "cp.async.bulk.shared::cluster.shared::cta.mbarrier::complete_tx::bytes [%own], [s+16], 16, [%bar];"},
	} {
		text := strings.NewReplacer("BYTES", c.bytes, "WRITE", c.write).Replace(remoteText)
		d := deviceFor(t, ptx.SM90a, Options{})
		failText(t, d, strings.Replace(text, "DIRECTIVE", "", 1), 1, 1, "this instruction is illegal without clusters")
		compiled := strings.Replace(text, "DIRECTIVE", ".reqnctapercluster 1, 1, 1", 1)
		b, err := d.Alloc(16)
		if err != nil {
			t.Fatal(err)
		}
		l := device.Launch{Grid: device.D(1), Block: device.D(1), Params: []device.Param{device.Ptr(b)}}
		if err := launchText(t, d, compiled, l); err != nil {
			t.Errorf("%s: %v", c.write, err)
		}
	}
}

// TestVectorAtomics checks that vector atomics at generic addresses of shared memory fault.
func TestVectorAtomics(t *testing.T) {
	failText(t, deviceFor(t, ptx.SM90a, Options{}), `.version 8.6
.target sm_90a
.address_size 64
.visible .entry k(.param .u64 p)
{
	.reg .b64 %a;
	.reg .b32 %r<2>;
	.shared .align 16 .b8 s[16];
	mov.u64 %a, s;
	cvta.shared.u64 %a, %a;
	atom.add.v2.f32 {%r0, %r1}, [%a], {%r0, %r1};
	ret;
}
`, 1, 1, "vector atomics work on global memory")
}
