package check_test

import (
	"strings"
	"testing"

	"github.com/GOATnote-Inc/attest/device/emu/check"
)

// groupKernel returns a kernel of warpgroups with a tile of zeros. %rd4 and %rd5 are descriptors of
// the tile; %p1 is false and %p2 is true.
func groupKernel(threads int, body string) oneKernel {
	for name, op := range map[string]string{
		"PRODUCT4": "wgmma.mma_async.sync.aligned.m64n8k16.f32.f16.f16 {%f4, %f5, %f6, %f7}, %rd4, %rd5,",
		"PRODUCT8": "wgmma.mma_async.sync.aligned.m64n8k16.f32.f16.f16 {%f8, %f9, %f10, %f11}, %rd4, %rd5,",
		"WIDE":     "wgmma.mma_async.sync.aligned.m64n16k16.f32.f16.f16 {%f4, %f5, %f6, %f7, %f8, %f9, %f10, %f11}, %rd4, %rd5,",
		"FROM":     "wgmma.mma_async.sync.aligned.m64n8k16.f32.f16.f16 {%f4, %f5, %f6, %f7}, {%r10, %r11, %r12, %r13}, %rd5, %p1, 1, 1, 0;",
		"START":    "%p1, 1, 1, 0, 0;",
		"ADD":      "%p2, 1, 1, 0, 0;",
		"FENCE":    "wgmma.fence.sync.aligned;",
		"COMMIT":   "wgmma.commit_group.sync.aligned;",
		"WAIT":     "wgmma.wait_group.sync.aligned",
	} {
		body = strings.ReplaceAll(body, name, op)
	}
	return oneKernel{target: "sm_90a", threads: threads, body: `	.shared .align 128 .b8 tile[4096];
	mov.u32 %r1, tile;
	shr.u32 %r1, %r1, 4;
	cvt.u64.u32 %rd4, %r1;
	or.b64 %rd4, %rd4, 0x0000000800080000;
	mov.u64 %rd5, %rd4;
	setp.ne.u32 %p1, 0, 0;
	setp.eq.u32 %p2, 0, 0;
	mov.u32 %r10, 0;
	mov.u32 %r11, 0;
	mov.u32 %r12, 0;
	mov.u32 %r13, 0;
` + body}
}

// TestGroupRegisters: the registers of wgmma must not be accessed before the wait that covers it,
// and writes to them need a fence.
func TestGroupRegisters(t *testing.T) {
	const (
		start = "FENCE\nPRODUCT4 START\nCOMMIT\n"
		store = "st.global.v4.f32 [%rd0], {%f4, %f5, %f6, %f7};"
		bad   = " // <- wgmma-hazard"
	)
	for name, body := range map[string]string{
		"waited":                 start + "WAIT 0;\n" + store + "\n",
		"read early":             start + store + bad + "\nWAIT 0;\n",
		"written early":          start + "mov.f32 %f5, 0f00000000;" + bad + "\nWAIT 0;\n",
		"once a product":         start + "add.f32 %f0, %f4, %f5;" + bad + "\nadd.f32 %f1, %f6, %f7;\nWAIT 0;\n",
		"guarded read":           start + "setp.eq.u32 %p3, %r0, 0;\n@%p3 add.f32 %f0, %f4, %f5;" + bad + "\nWAIT 0;\n",
		"not committed":          "FENCE\nPRODUCT4 START\nWAIT 0;\nadd.f32 %f0, %f4, %f5;" + bad + "\nCOMMIT\nWAIT 0;\n",
		"newest left":            start + "PRODUCT8 START\nCOMMIT\nWAIT 1;\nadd.f32 %f0, %f4, %f8;" + bad + "\nWAIT 0;\n",
		"oldest over":            start + "PRODUCT8 START\nCOMMIT\nWAIT 1;\nadd.f32 %f0, %f4, %f5;\nWAIT 0;\n",
		"accumulated":            "FENCE\nPRODUCT4 START\nPRODUCT4 ADD\nCOMMIT\nPRODUCT4 ADD\nCOMMIT\nWAIT 0;\n" + store + "\n",
		"accumulated and read":   "FENCE\nPRODUCT4 START\nCOMMIT\nPRODUCT4 ADD\nCOMMIT\nWAIT 1;\n" + store + bad + "\nWAIT 0;\n",
		"no fence":               "PRODUCT4 START" + bad + "\nCOMMIT\nWAIT 0;\n",
		"written after":          "FENCE\nmov.f32 %f4, 0f00000000;\nmov.f32 %f5, %f4;\nmov.f32 %f6, %f4;\nmov.f32 %f7, %f4;\nPRODUCT4 ADD" + bad + "\nCOMMIT\nWAIT 0;\n",
		"written before":         "mov.f32 %f4, 0f00000000;\nmov.f32 %f5, %f4;\nmov.f32 %f6, %f4;\nmov.f32 %f7, %f4;\nFENCE\nPRODUCT4 ADD\nCOMMIT\nWAIT 0;\n",
		"scaled":                 start + "WAIT 0;\nmul.f32 %f4, %f4, 0f40000000;\nPRODUCT4 ADD" + bad + "\nCOMMIT\nWAIT 0;\n",
		"scaled and fenced":      start + "WAIT 0;\nmul.f32 %f4, %f4, 0f40000000;\nFENCE\nPRODUCT4 ADD\nCOMMIT\nWAIT 0;\n",
		"a overwritten":          "FENCE\nFROM\nCOMMIT\nmov.u32 %r10, 5;" + bad + "\nWAIT 0;\n",
		"a read":                 "FENCE\nFROM\nCOMMIT\nadd.u32 %r2, %r10, 5;" + bad + " warning\nWAIT 0;\n",
		"a after the fence":      "FENCE\nadd.u32 %r10, %r11, 5;\nFROM" + bad + "\nCOMMIT\nWAIT 0;\n",
		"a before the fence":     "add.u32 %r10, %r11, 5;\nFENCE\nFROM\nCOMMIT\nWAIT 0;\n",
		"other shape":            "FENCE\nPRODUCT4 START\nWIDE START" + bad + "\nCOMMIT\nWAIT 0;\n",
		"other shape and fenced": start + "WAIT 0;\nFENCE\nWIDE START\nCOMMIT\nWAIT 0;\n",
		"never waited for":       start + store + bad + "\n",
		"left running":           "FENCE\nPRODUCT4 START" + bad + " warning\nCOMMIT\n",
	} {
		t.Run(name, func(t *testing.T) { groupKernel(128, body).expect(t, check.WgmmaHazard) })
	}
}

// TestGroupCompiled: moves by a compiler to and from inline assembly are not errors; other accesses
// are.
func TestGroupCompiled(t *testing.T) {
	const (
		fence = "// begin inline asm\nFENCE\n// end inline asm\n"
		start = "// begin inline asm\nPRODUCT4 ADD\n// end inline asm\n"
		rest  = "// begin inline asm\nCOMMIT\nWAIT 0;\n// end inline asm\n"
		zero  = "mov.f32 %f4, 0f00000000;\nmov.f32 %f5, %f4;\nmov.f32 %f6, %f4;\nmov.f32 %f7, %f4;\n"
		depot = ".local .align 4 .b8 depot[16];\n"
		bad   = " // <- wgmma-hazard"
	)
	failing := strings.Replace(start, "PRODUCT4 ADD", "PRODUCT4 ADD"+bad, 1)
	for name, body := range map[string]string{
		"set up":         fence + zero + start + rest,
		"not fenced":     zero + failing + rest,
		"fenced once":    fence + zero + start + rest + zero + failing + rest,
		"computed":       zero + fence + "mul.f32 %f4, %f5, %f6;\n" + failing + rest,
		"spilt":          depot + zero + fence + start + "st.local.f32 [depot], %f4;" + bad + " warning\n" + rest,
		"copied":         zero + fence + start + "mov.f32 %f1, %f4;" + bad + " warning\n" + rest,
		"stored":         zero + fence + start + "st.global.f32 [%rd1], %f4;" + bad + "\n" + rest,
		"moved and used": zero + fence + start + "mov.f32 %f1, %f4;" + bad + " warning\nadd.f32 %f2, %f4, %f4;" + bad + "\n" + rest,
	} {
		t.Run(name, func(t *testing.T) { groupKernel(128, body).expect(t, check.WgmmaHazard) })
	}
}

// TestGroupAgrees: the warps of a warpgroup must execute the same product.
func TestGroupAgrees(t *testing.T) {
	const end = "COMMIT\nWAIT 0;\n"
	for name, c := range map[string]struct {
		body, says string
	}{
		"same":       {"FENCE\nPRODUCT4 START\nPRODUCT4 ADD\n" + end, ""},
		"descriptor": {"shr.u32 %r2, %r0, 5;\ncvt.u64.u32 %rd6, %r2;\nadd.u64 %rd5, %rd5, %rd6;\nFENCE\nPRODUCT4 START // <- wgmma-hazard\n" + end, "bDesc of wgmma.mma_async differs between warps"},
		"scale":      {"setp.lt.u32 %p1, %r0, 64;\nFENCE\nPRODUCT4 START // <- wgmma-hazard\n" + end, "scaleD of wgmma.mma_async differs between warps"},
		"lanes":      {"cvt.u64.u32 %rd6, %r0;\nand.b64 %rd6, %rd6, 1;\nadd.u64 %rd4, %rd4, %rd6;\nFENCE\nPRODUCT4 START // <- wgmma-hazard\n" + end, "aDesc of wgmma.mma_async differs between the lanes"},
		"instruction": {"setp.lt.u32 %p3, %r0, 96;\nFENCE\n@%p3 bra ONE;\nPRODUCT4 START // <- wgmma-hazard\nbra DONE;\n" +
			"ONE:\nPRODUCT4 START\nDONE:\n" + end, "the instruction of wgmma.mma_async differs between warps"},
	} {
		t.Run(name, func(t *testing.T) {
			for _, d := range groupKernel(128, c.body).expect(t, check.WgmmaHazard) {
				if !strings.Contains(d.Message, c.says) {
					t.Errorf("%s\nwant %s", d.Message, c.says)
				}
			}
		})
	}
	two := "setp.lt.u32 %p3, %r0, 128;\nFENCE\n@%p3 bra ONE;\nPRODUCT4 START\nbra DONE;\nONE:\nPRODUCT8 START\nDONE:\n" + end
	groupKernel(256, two).expect(t, check.WgmmaHazard) // different warpgroups may differ
}
