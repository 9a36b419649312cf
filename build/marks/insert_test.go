package marks_test

import (
	"bytes"
	"encoding/binary"
	"slices"
	"strings"
	"testing"

	"github.com/GOATnote-Inc/attest/build/marks"
	"github.com/GOATnote-Inc/attest/device"
	"github.com/GOATnote-Inc/attest/device/emu"
	"github.com/GOATnote-Inc/attest/ptx"
	"github.com/GOATnote-Inc/attest/ptx/parse"
)

// waits is a kernel with one wait of each kind. Its two waits for mbarriers have the forms of build and of CUTLASS: a branch
// back to the wait, and a branch forward when it has ended.
const waits = `.version 8.0
.target sm_90a
.address_size 64
.file 1 "dir/waits.cu"
.visible .entry waits(.param .u64 out)
{
	.reg .b32 %r<8>; .reg .b64 %rd<4>; .reg .pred %p<4>;
	.shared .align 8 .b64 bar;
	.shared .align 16 .b8 tile[512];
	ld.param.u64 %rd0, [out];
	mov.u32 %r0, %tid.x;
	mov.u32 %r1, bar;
	mov.u32 %r5, tile;
	setp.eq.u32 %p0, %r0, 0;
	@%p0 mbarrier.init.shared.b64 [%r1], 64;
	.loc 1 10 1
	bar.sync 0;
	mbarrier.arrive.shared.b64 _, [%r1];
	.loc 1 20 1
$W:
	mbarrier.try_wait.parity.shared.b64 %p1, [%r1], 0;
	@!%p1 bra $W;
	mbarrier.arrive.shared.b64 _, [%r1];
	.loc 1 30 1
$V:
	mbarrier.try_wait.parity.shared.b64 %p2, [%r1], 1;
	@%p2 bra $DONE;
	bra $V;
$DONE:
	and.b32 %r6, %r0, 31;
	shl.b32 %r6, %r6, 4;
	add.u32 %r5, %r5, %r6;
	cvt.u64.u32 %rd2, %r6;
	add.u64 %rd2, %rd0, %rd2;
	setp.lt.u32 %p3, %r0, 32;
	@%p3 cp.async.cg.shared.global [%r5], [%rd2], 16;
	.loc 1 40 1
	cp.async.wait_all;
	mul.wide.u32 %rd1, %r0, 4;
	add.u64 %rd1, %rd0, %rd1;
	bar.warp.sync -1;
	st.global.u32 [%rd1+512], %r0;
	ret;
}
`

// insert returns the text of waits with marks.
func insert(t *testing.T, limit int) (string, *marks.Marks) {
	t.Helper()
	m, err := parse.Parse("waits.ptx", waits)
	if err != nil {
		t.Fatal(err)
	}
	k, err := marks.Insert(m, "waits", limit)
	if err != nil {
		t.Fatal(err)
	}
	return m.String(), k
}

// launch runs a text with two blocks of 64 threads and returns what it stored and the buffer of marks.
func launch(t *testing.T, text string, bytes int64) (out, buffer []byte) {
	t.Helper()
	dev, err := emu.New(ptx.SM90a, emu.Options{})
	if err != nil {
		t.Fatal(err)
	}
	defer dev.Close()
	module, err := dev.Load("waits.ptx", text)
	if err != nil {
		t.Fatalf("%v\n%s", err, text)
	}
	entry, err := module.Kernel("waits")
	if err != nil {
		t.Fatal(err)
	}
	out, buffer = make([]byte, 1024), make([]byte, bytes)
	l := device.Launch{Grid: device.D(2), Block: device.D(64)}
	var buffers []device.Buffer
	for _, content := range [][]byte{out, buffer} {
		if len(content) == 0 {
			continue
		}
		b, err := dev.Alloc(int64(len(content)))
		if err != nil {
			t.Fatal(err)
		}
		if err := b.Write(0, content); err != nil {
			t.Fatal(err)
		}
		l.Params, buffers = append(l.Params, device.Ptr(b)), append(buffers, b)
	}
	if err := entry.Launch(t.Context(), l); err != nil {
		t.Fatal(err)
	}
	for i, b := range buffers {
		if err := b.Read(0, [][]byte{out, buffer}[i]); err != nil {
			t.Fatal(err)
		}
	}
	return out, buffer
}

// TestInsert wants each warp to record each wait once, by its source line, and the results to stay the same.
func TestInsert(t *testing.T) {
	text, m := insert(t, 16)
	plain, _ := launch(t, waits, 0)
	out, buffer := launch(t, text, m.Bytes(2, 64))
	if !bytes.Equal(out, plain) || binary.LittleEndian.Uint32(out[512+4*63:]) != 63 {
		t.Error("marks change the results")
	}
	warps, err := m.Read(buffer, 2, 64)
	if err != nil {
		t.Fatal(err)
	}
	want := []string{"barrier waits.cu:10", "mbarrier waits.cu:20", "mbarrier waits.cu:30", "copies waits.cu:40", "end"}
	if len(warps) != 4 {
		t.Fatalf("%d warps recorded", len(warps))
	}
	for _, w := range warps {
		var names []string
		before := w.Clock
		for _, x := range w.Marks {
			if names = append(names, x.Name); x.Clock < before {
				t.Errorf("block %d warp %d: %s at %d, the mark before at %d", w.Block, w.Warp, x.Name, x.Clock, before)
			}
			before = x.Clock
		}
		if !slices.Equal(names, want) {
			t.Errorf("block %d warp %d: %q", w.Block, w.Warp, names)
		}
	}
}

// TestInsertLimit wants marks beyond the limit to be left out, and the next warp's words to stay as they are.
func TestInsertLimit(t *testing.T) {
	text, m := insert(t, 2)
	_, buffer := launch(t, text, m.Bytes(2, 64))
	warps, err := m.Read(buffer, 2, 64)
	if err != nil {
		t.Fatal(err)
	}
	for _, w := range warps {
		if len(w.Marks) != 2 || w.Marks[1].Name != "mbarrier waits.cu:20" {
			t.Errorf("block %d warp %d: %v", w.Block, w.Warp, w.Marks)
		}
	}
}

// TestInsertRefuses wants clear errors for what cannot be marked.
func TestInsertRefuses(t *testing.T) {
	m, err := parse.Parse("waits.ptx", waits)
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		entry string
		limit int
		want  string
	}{{"other", 4, "no entry other"}, {"waits", 0, "use at least 1"}, {"waits", 4, ""}, {"waits", 4, "has marks already"}} {
		if _, err := marks.Insert(m, c.entry, c.limit); c.want == "" && err != nil || c.want != "" && (err == nil || !strings.Contains(err.Error(), c.want)) {
			t.Errorf("%s, %d marks: %v, want %q", c.entry, c.limit, err, c.want)
		}
	}
}
