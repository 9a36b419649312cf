package emu

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/GOATnote-Inc/attest/device"
	"github.com/GOATnote-Inc/attest/ptx"
)

// asyncHead is the start of a kernel of one block: %in and %out are its buffers, %tid is the
// thread, and buf is its shared memory.
const asyncHead = `.version 8.4
.target sm_90a
.address_size 64
.visible .entry k(.param .u64 pin, .param .u64 pout)
{
	.reg .pred p, q, r;
	.reg .b32 tid, a, b, c, v, w, n, s, rank, mask;
	.reg .b64 in, out, x, y, z, state;
	.shared .align 1024 .b8 buf[4096];
	.shared .align 8 .b64 bar[4];
	ld.param.u64 in, [pin];
	ld.param.u64 out, [pout];
	mov.u32 tid, %tid.x;
`

// runAsync runs the body of a kernel on a block of n threads. The output has the size of the
// input.
func runAsync(t *testing.T, opts Options, n int, body string, in []byte) ([]byte, error) {
	t.Helper()
	d := deviceFor(t, ptx.SM90a, opts)
	src, dst := bufferWith(t, d, in), bufferWith(t, d, make([]byte, len(in)))
	err := launchText(t, d, asyncHead+body+"\nret;\n}\n", device.Launch{
		Grid: device.D(1), Block: device.D(n), Params: []device.Param{device.Ptr(src), device.Ptr(dst)},
	})
	return contents(t, dst), err
}

// counting returns the 32-bit values 1 to n.
func counting(n int) []byte {
	v := make([]uint32, n)
	for i := range v {
		v[i] = uint32(i + 1)
	}
	return bytesOf(v...)
}

func wantWords(t *testing.T, got []byte, want ...uint32) {
	t.Helper()
	if g := u32s(got)[:len(want)]; !slices.Equal(g, want) {
		t.Errorf("got %d, want %d", g, want)
	}
}

func wantFault(t *testing.T, err error, text string) {
	t.Helper()
	if err == nil || !strings.Contains(err.Error(), text) {
		t.Errorf("got error %v, want one with %q", err, text)
	}
}

// TestCopyAsyncIsLate checks that a copy takes effect when a wait covers its group, and not
// earlier.
func TestCopyAsyncIsLate(t *testing.T) {
	const body = `
	mov.u32 a, buf;
	cp.async.ca.shared.global [a], [in], 4;
	cp.async.commit_group;
	cp.async.ca.shared.global [a+4], [in+4], 4;
	cp.async.commit_group;
	cp.async.ca.shared.global [a+8], [in+8], 4;
	ld.shared.u32 v, [a];
	st.global.u32 [out], v;
	cp.async.wait_group 1;
	ld.shared.u32 v, [a];
	st.global.u32 [out+4], v;
	ld.shared.u32 v, [a+4];
	st.global.u32 [out+8], v;
	cp.async.wait_group 0;
	ld.shared.u32 v, [a+4];
	st.global.u32 [out+12], v;
	ld.shared.u32 v, [a+8];
	st.global.u32 [out+16], v;
	cp.async.wait_all;
	ld.shared.u32 v, [a+8];
	st.global.u32 [out+20], v;`
	got, err := runAsync(t, Options{}, 1, body, counting(8))
	if err != nil {
		t.Fatal(err)
	}
	wantWords(t, got, 0, 1, 0, 2, 0, 3)
}

// TestCopyAsyncGroupsOfThreads commits groups at different places in the lanes of a warp.
func TestCopyAsyncGroupsOfThreads(t *testing.T) {
	const body = `
	mov.u32 a, buf;
	shl.b32 b, tid, 2;
	add.u32 a, a, b;
	cvt.u64.u32 x, b;
	add.u64 in, in, x;
	add.u64 out, out, x;
	cp.async.ca.shared.global [a], [in], 4;
	setp.ge.u32 p, tid, 2;
	@p cp.async.commit_group;
	cp.async.wait_group 0;
	ld.shared.u32 v, [a];
	st.global.u32 [out], v;`
	got, err := runAsync(t, Options{}, 4, body, counting(4))
	if err != nil {
		t.Fatal(err)
	}
	wantWords(t, got, 0, 0, 3, 4)
}

func TestCopyAsyncZeroFill(t *testing.T) {
	const body = `
	mov.u32 a, buf;
	mov.u32 v, 0xffffffff;
	st.shared.u32 [a+12], v;
	st.shared.u32 [a+28], v;
	mov.u32 n, 6;
	cp.async.cg.shared.global [a], [in], 16, n;
	setp.eq.u32 p, n, 6;
	cp.async.cg.shared.global [a+16], [in], 16, p;
	cp.async.cg.shared.global.L2::128B [a+32], [in], 16, !p;
	mov.u64 x, 64;
	cp.async.ca.shared::cta.global [a+48], [x], 8, 0;
	cp.async.wait_all;
	mov.u32 n, 0;
loop:
	ld.shared.u32 v, [a];
	st.global.u32 [out], v;
	add.u32 a, a, 4;
	add.u64 out, out, 4;
	add.u32 n, n, 1;
	setp.lt.u32 p, n, 14;
	@p bra loop;`
	got, err := runAsync(t, Options{}, 1, body, bytesOf(0x01020304, 0x05060708, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14))
	if err != nil {
		t.Fatal(err)
	}
	wantWords(t, got, 0x01020304, 0x0708, 0, 0, 0, 0, 0, 0, 0x01020304, 0x05060708, 3, 4, 0, 0)
}

// TestCopyAsyncArrives copies with 32 threads, while a thread of another warp waits for the
// mbarrier, with and without .noinc.
func TestCopyAsyncArrives(t *testing.T) {
	for _, c := range []struct {
		arrive string
		count  int
	}{{"cp.async.mbarrier.arrive.noinc.shared.b64 [b];", 32}, {"cp.async.mbarrier.arrive.shared.b64 [b]; mbarrier.arrive.shared.b64 state, [b];", 32}} {
		body := fmt.Sprintf(`
	mov.u32 a, buf;
	mov.u32 b, bar;
	setp.eq.u32 p, tid, 0;
	@p mbarrier.init.shared.b64 [b], %d;
	bar.sync 0;
	setp.ge.u32 q, tid, 32;
	@q bra consumer;
	shl.b32 c, tid, 2;
	add.u32 a, a, c;
	cvt.u64.u32 x, c;
	add.u64 in, in, x;
	cp.async.ca.shared.global [a], [in], 4;
	%s
	ret;
consumer:
	mbarrier.test_wait.parity.shared.b64 r, [b], 0;
	@!r bra consumer;
	sub.u32 c, tid, 32;
	shl.b32 c, c, 2;
	add.u32 a, a, c;
	cvt.u64.u32 x, c;
	add.u64 out, out, x;
	ld.shared.u32 v, [a];
	st.global.u32 [out], v;`, c.count, c.arrive)
		got, err := runAsync(t, Options{}, 64, body, counting(32))
		if err != nil {
			t.Fatal(err)
		}
		wantWords(t, got, u32s(counting(32))...)
	}
}

// TestScheduleCompletesEarly checks that under some schedule a copy completes before the
// wait, and that each schedule gives the same result twice.
func TestScheduleCompletesEarly(t *testing.T) {
	const body = `
	mov.u32 a, buf;
	cp.async.ca.shared.global [a], [in], 4;
	ld.shared.u32 v, [a];
	st.global.u32 [out], v;`
	seen := map[uint32]bool{}
	for seed := range uint64(32) {
		got, err := runAsync(t, Options{Schedule: seed}, 1, body, counting(1))
		if err != nil {
			t.Fatal(err)
		}
		again, _ := runAsync(t, Options{Schedule: seed}, 1, body, counting(1))
		if !slices.Equal(got, again) {
			t.Errorf("schedule %d gives %d and then %d", seed, got, again)
		}
		seen[u32s(got)[0]] = true
	}
	if !seen[0] || !seen[1] {
		t.Errorf("schedules give %v, want both orders", seen)
	}
}

func TestCopyAsyncFaults(t *testing.T) {
	for body, want := range map[string]string{
		"mov.u32 a, buf; mov.u32 n, 17; cp.async.cg.shared.global [a], [in], 16, n;": "source size 17",
		"mov.u32 a, buf; cp.async.cg.shared.global [a+8], [in], 16;":                 "not aligned",
		"mov.u32 a, buf; mov.u64 x, 64; cp.async.ca.shared.global [a], [x], 4;":      "global address",
	} {
		_, err := runAsync(t, Options{}, 1, body, counting(16))
		wantFault(t, err, want)
	}
}

// bufferWith returns a buffer with the data.
func bufferWith(t testing.TB, d *Device, data []byte) device.Buffer {
	t.Helper()
	b, err := d.Alloc(int64(len(data)))
	if err != nil {
		t.Fatal(err)
	}
	if err := b.Write(0, data); err != nil {
		t.Fatal(err)
	}
	return b
}

// contents returns the content of a buffer.
func contents(t testing.TB, b device.Buffer) []byte {
	t.Helper()
	data := make([]byte, b.Size())
	if err := b.Read(0, data); err != nil {
		t.Fatal(err)
	}
	return data
}
