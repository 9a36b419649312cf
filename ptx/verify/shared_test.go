package verify

import (
	"os/exec"
	"path/filepath"
	"regexp"
	"strconv"
	"testing"

	"github.com/GOATnote-Inc/attest/ptx"
)

const sharedText = header + `
.shared .align 4 .b8 a[3];
.shared .align 16 .b8 b[20];
.shared .align 8 .b8 unused[1000];
.extern .shared .align 16 .b8 dynamic[];
.extern .shared .align 16 .b8 other[];

.func leaf()
{
	.shared .align 8 .b8 z[100];
	.reg .u32 r;
	mov.u32 r, 1;
	st.shared.u8 [z], r;
	st.shared.u8 [dynamic], r;
	ret;
}

.func middle()
{
	call leaf;
	ret;
}

.visible .entry module()
{
	.reg .u32 r;
	mov.u32 r, a;
	st.shared.u32 [b], r;
	ret;
}

.visible .entry own()
{
	.shared .b8 c[5];
	.shared .b8 d[7];
	.reg .u32 r;
	mov.u32 r, a;
	st.shared.u32 [b], r;
	st.shared.u8 [c], r;
	ret;
}

.visible .entry calling()
{
	.shared .b8 c[7];
	.reg .u32 r;
	mov.u32 r, c;
	st.shared.u8 [r], r;
	call middle;
	ret;
}

.visible .entry nothing()
{
	ret;
}
`

func TestSharedStatic(t *testing.T) {
	m := mustParse(t, "shared.ptx", sharedText)
	want := map[string]int64{"module": 48, "own": 48, "calling": 112, "nothing": 0}
	for name, n := range want {
		if got := SharedStatic(m, m.Func(name)); got != n {
			t.Errorf("%s: %d bytes, want %d", name, got, n)
		}
	}
}

func TestSharedDynamic(t *testing.T) {
	m := mustParse(t, "shared.ptx", sharedText)
	vs := SharedDynamic(m, m.Func("calling"))
	if len(vs) != 1 || vs[0].Sym.Name != "dynamic" {
		t.Errorf("calling needs %v, want dynamic", vs)
	}
	if vs := SharedDynamic(m, m.Func("module")); vs != nil {
		t.Errorf("module needs %v, want nothing", vs)
	}
}

// TestSharedByAssembler compares the sizes of shared memory with those that ptxas reports.
func TestSharedByAssembler(t *testing.T) {
	ptxas := assembler(t)
	m := mustParse(t, "shared.ptx", sharedText)
	file := filepath.Join(t.TempDir(), "shared.ptx")
	write(t, file, sharedText)
	out, err := exec.Command(ptxas, "-v", "-arch=sm_90a", "-o", file+".cubin", file).CombinedOutput()
	if err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	props := regexp.MustCompile(`Function properties for (\w+)\n.*\n.*Used \d+ registers(?:[^\n]*?, (\d+) bytes smem)?`)
	seen := 0
	for _, p := range props.FindAllStringSubmatch(string(out), -1) {
		f := m.Func(p[1])
		if f == nil || !f.Entry {
			continue
		}
		seen++
		want, _ := strconv.ParseInt(p[2], 10, 64)
		if got := SharedStatic(m, f); got != want {
			t.Errorf("%s: %d bytes, ptxas says %d", p[1], got, want)
		}
	}
	if seen != 4 {
		t.Errorf("ptxas reports %d entries, want 4:\n%s", seen, out)
	}
}

func TestMinTarget(t *testing.T) {
	tests := []struct{ name, body, want, by string }{
		{"nothing", "ret;", "sm_50 4.0", "<nil>"},
		{"target", "redux.sync.add.s32 %r1, %r2, -1; ret;", "sm_80 7.0", "redux.sync.add.s32 %r1, %r2, -1;"},
		{"architecture-specific", "redux.sync.add.s32 %r1, %r2, -1; wgmma.fence.sync.aligned; mov.u32 %r1, %cluster_ctarank; ret;", "sm_90a 8.0", "wgmma.fence.sync.aligned;"},
		{"special register", "mov.u32 %r1, %cluster_ctarank; ret;", "sm_90 7.8", "mov.u32 %r1, %cluster_ctarank;"},
		{"version alone", "activemask.b32 %r1; ret;", "sm_50 6.2", "activemask.b32 %r1;"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			m, _ := kernelOf(t, tt.body)
			n, by := MinTarget(m)
			at := "<nil>"
			if by != nil {
				at = by.String()
			}
			same(t, "needs", n.Target.String()+" "+n.Version.String(), tt.want)
			same(t, "decided by", at, tt.by)
		})
	}
	m := mustParse(t, "d.ptx", header+".visible .entry k() .reqnctapercluster 2, 1, 1 { ret; }")
	if n, by := MinTarget(m); n.Target != ptx.SM90 || by != nil {
		t.Errorf("a cluster needs %v because of %v, want sm_90 and no instruction", n, by)
	}
}
