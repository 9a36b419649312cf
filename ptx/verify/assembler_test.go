package verify

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"testing"

	"github.com/GOATnote-Inc/attest/finding"
)

func assembler(t *testing.T) string {
	t.Helper()
	path, err := exec.LookPath("ptxas")
	if err != nil {
		t.Skip("no ptxas on PATH to compare with")
	}
	return path
}

func write(t *testing.T, file, text string) {
	t.Helper()
	if err := os.WriteFile(file, []byte(text), 0o644); err != nil {
		t.Fatal(err)
	}
}

// TestTypesByAssembler tries registers of every type in operands of many kinds. Check must
// accept every line that ptxas accepts.
func TestTypesByAssembler(t *testing.T) {
	ptxas := assembler(t)
	types := strings.Fields("pred b8 u8 s8 b16 u16 s16 f16 b32 u32 s32 f32 f16x2 b64 u64 s64 f64 b128")
	var head strings.Builder
	head.WriteString(header + ".global .b32 gv[4];\n.shared .align 8 .b8 sh[64];\n.visible .entry k(.param .u64 a, .param .u32 b)\n{\n")
	for _, typ := range types {
		for i := range 4 {
			fmt.Fprintf(&head, "\t.reg .%s %s_%d;\n", typ, typ, i)
		}
	}
	text, base := head.String(), strings.Count(head.String(), "\n")
	var lines []string
	for form := range strings.SplitSeq(strings.TrimSpace(typeForms), "\n") {
		for _, typ := range types {
			lines = append(lines, strings.ReplaceAll(form, "T", typ))
		}
	}
	text += strings.Join(lines, "\n") + "\nret;\n}\n"
	refused := refusedLines(t, ptxas, text)

	ours := map[int]string{}
	for _, d := range Check(mustParse(t, "types.ptx", text)) {
		if d.Severity == finding.Error && d.Kind != "uninit-register" {
			ours[int(d.Pos.Line)] = d.Message
		}
	}
	taken, lax := 0, 0
	for i, line := range lines {
		n := base + 1 + i
		switch {
		case refused[n] && ours[n] == "":
			lax++
		case !refused[n] && ours[n] != "" && !quirks[line]:
			t.Errorf("ptxas accepts %q, but Check says: %s", line, ours[n])
		case !refused[n]:
			taken++
		}
	}
	if taken < 200 || lax > len(lines)/20 {
		t.Errorf("ptxas accepts %d of %d lines, and Check alone accepts %d more", taken, len(lines), lax)
	}
}

// quirks lists lines that ptxas accepts although the PTX manual forbids them. No compiler emits
// them.
var quirks = map[string]bool{
	"and.pred f16x2_0, f16x2_1, f16x2_2;": true,
	"mov.pred f16x2_0, f16x2_1;":          true,
	"ldmatrix.sync.aligned.m8n8.x4.shared.b16 {pred_0, pred_1, pred_2, pred_3}, [u32_0];": true,
	"isspacep.shared pred_0, b32_0;": true,
	"isspacep.shared pred_0, u32_0;": true,
	"isspacep.shared pred_0, s32_0;": true,
}

// typeForms lists instructions in which T stands for the type of a register.
const typeForms = `
add.s32 T_0, T_1, T_2;
add.f32 T_0, T_1, T_2;
add.f16 T_0, T_1, T_2;
add.f16x2 T_0, T_1, T_2;
add.u16 T_0, T_1, T_2;
add.s64 T_0, T_1, T_2;
add.f64 T_0, T_1, T_2;
fma.rn.bf16 T_0, T_1, T_2, T_2;
fma.rn.bf16x2 T_0, T_1, T_2, T_2;
and.b32 T_0, T_1, T_2;
and.b16 T_0, T_1, T_2;
and.pred T_0, T_1, T_2;
mov.b32 T_0, T_1;
mov.u32 T_0, T_1;
mov.f32 T_0, T_1;
mov.b16 T_0, T_1;
mov.u16 T_0, T_1;
mov.b64 T_0, T_1;
mov.pred T_0, T_1;
mov.b128 T_0, T_1;
ld.global.u8 T_0, [u64_0];
ld.global.b8 T_0, [u64_0];
ld.global.u16 T_0, [u64_0];
ld.global.b16 T_0, [u64_0];
ld.global.b32 T_0, [u64_0];
ld.global.u32 T_0, [u64_0];
ld.global.f32 T_0, [u64_0];
ld.global.f64 T_0, [u64_0];
ld.global.b64 T_0, [u64_0];
st.global.u8 [u64_0], T_0;
st.global.b8 [u64_0], T_0;
st.global.b16 [u64_0], T_0;
st.global.b32 [u64_0], T_0;
st.global.f32 [u64_0], T_0;
cvt.u32.u16 T_0, u16_0;
cvt.u8.u32 T_0, u32_0;
cvt.s32.s8 s32_0, T_0;
cvt.rn.f32.u32 T_0, u32_0;
cvt.rn.f32.u8 f32_0, T_0;
cvt.f32.f16 f32_0, T_0;
cvt.rn.f16.f32 T_0, f32_0;
cvt.rn.bf16.f32 T_0, f32_0;
cvt.rn.bf16x2.f32 T_0, f32_0, f32_1;
cvt.rn.f16x2.f32 T_0, f32_0, f32_1;
cvt.rn.satfinite.e4m3x2.f32 T_0, f32_0, f32_1;
cvt.rn.f16x2.e4m3x2 f16x2_0, T_0;
cvt.rna.tf32.f32 T_0, f32_0;
setp.eq.s32 pred_0, T_0, T_1;
setp.eq.b32 pred_0, T_0, T_1;
setp.eq.f32 pred_0, T_0, T_1;
setp.eq.f16 pred_0, T_0, T_1;
set.eq.u32.f32 T_0, f32_0, f32_1;
selp.b32 T_0, T_1, T_2, pred_0;
selp.f32 T_0, T_1, T_2, pred_0;
selp.b16 T_0, T_1, T_2, pred_0;
mul.wide.u32 T_0, u32_0, u32_1;
mad.lo.s32 T_0, T_1, T_2, T_3;
shl.b32 T_0, b32_0, 3;
shl.b32 b32_0, b32_0, T_0;
shfl.sync.idx.b32 T_0, T_1, 0, 31, -1;
popc.b64 T_0, b64_0;
prmt.b32 T_0, T_1, T_2, 0;
lop3.b32 T_0, T_1, T_2, T_3, 0x96;
ex2.approx.f32 T_0, T_1;
ex2.approx.f16x2 T_0, T_1;
atom.global.add.f32 T_0, [u64_0], T_1;
atom.global.add.u32 T_0, [u64_0], T_1;
atom.global.cas.b32 T_0, [u64_0], T_1, T_2;
red.global.add.noftz.f16x2 [u64_0], T_1;
cvta.to.global.u64 T_0, u64_0;
ld.global.u32 u32_0, [T_0];
ld.shared.u32 u32_0, [T_0];
@T_0 mov.u32 u32_0, 1;
mov.b32 T_0, {b16_0, b16_1};
mov.b32 b32_0, {T_0, T_1};
mov.b64 {T_0, T_1}, b64_0;
vote.sync.ballot.b32 T_0, pred_0, -1;
bar.sync T_0;
bfe.u32 T_0, T_1, T_2, T_3;
copysign.f32 T_0, T_1, T_2;
testp.finite.f32 pred_0, T_0;
add.u16x2 T_0, T_1, T_2;
mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32 {f32_0, f32_1, f32_2, f32_3}, {T_0, T_1, T_2, T_3}, {b32_0, b32_1}, {f32_0, f32_1, f32_2, f32_3};
mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32 {T_0, T_1, T_2, T_3}, {b32_0, b32_1, b32_2, b32_3}, {b32_0, b32_1}, {T_0, T_1, T_2, T_3};
ldmatrix.sync.aligned.m8n8.x4.shared.b16 {T_0, T_1, T_2, T_3}, [u32_0];
cp.async.ca.shared.global [T_0], [u64_0], 16;
cp.async.ca.shared.global [u32_0], [u64_0], 16, T_0;
mbarrier.init.shared.b64 [u32_0], T_0;
mbarrier.arrive.shared.b64 T_0, [u32_0];
mapa.shared::cluster.u32 T_0, u32_1, u32_0;
redux.sync.add.s32 T_0, T_1, -1;
ld.param.u64 T_0, [a];
ld.param.u32 T_0, [b];
isspacep.shared pred_0, T_0;
mov.u32 T_0, %tid.x;
mov.b32 T_0, %tid.x;
mov.u64 T_0, %clock64;
mov.u64 T_0, gv;
mov.u32 T_0, sh;
mov.b32 T_0, 0f3F800000;
mov.b32 T_0, 5;
mov.u32 T_0, 5;
neg.f32 T_0, T_1;
not.b32 T_0, T_1;
`

// refusedLines assembles the text and returns the lines with errors.
func refusedLines(t *testing.T, ptxas, text string) map[int]bool {
	t.Helper()
	file := filepath.Join(t.TempDir(), "types.ptx")
	write(t, file, text)
	out, err := exec.Command(ptxas, "-arch=sm_90a", "-o", file+".cubin", file).CombinedOutput()
	if err == nil || strings.Contains(string(out), "Parsing error") {
		t.Fatalf("ptxas did not judge the text: %v\n%.2000s", err, out)
	}
	refused := map[int]bool{}
	for _, m := range regexp.MustCompile(`line (\d+); error`).FindAllStringSubmatch(string(out), -1) {
		n, err := strconv.Atoi(m[1])
		if err != nil {
			t.Fatal(err)
		}
		refused[n] = true
	}
	return refused
}
