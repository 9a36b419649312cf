package emu

import (
	"context"
	"encoding/binary"
	"math"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/GOATnote-Inc/attest/device"
	"github.com/GOATnote-Inc/attest/ptx"
)

// deviceFor opens an emulator and closes it when the test ends.
func deviceFor(t testing.TB, target ptx.Target, opts Options) *Device {
	t.Helper()
	d, err := New(target, opts)
	if err != nil {
		t.Fatal(err)
	}
	return d
}

// header is the start of a module for the newest target.
const header = ".version 8.6\n.target sm_90a\n.address_size 64\n"

// kernelText returns a module with a kernel k that has one pointer parameter: %rd0 holds the
// pointer and %r0 holds %tid.x. The body may use the registers declared here.
func kernelText(body string) string {
	return header + `.visible .entry k(.param .u64 out)
{
	.reg .pred %p<16>;
	.reg .b16 %h<16>;
	.reg .b32 %r<64>;
	.reg .b64 %rd<32>;
	.reg .b128 %q<4>;
	.reg .f32 %f<16>;
	.reg .f64 %fd<8>;
	ld.param.u64 %rd0, [out];
	mov.u32 %r0, %tid.x;
` + body + `
	ret;
}
`
}

// launchText loads a module, launches its kernel k and returns the error of the launch. It
// fails the test if the module cannot be loaded.
func launchText(t testing.TB, d *Device, text string, l device.Launch) error {
	t.Helper()
	m, err := d.Load("test.ptx", text)
	if err != nil {
		t.Fatalf("load: %v", err)
	}
	k, err := m.Kernel("k")
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithTimeout(context.Background(), 20*time.Second)
	defer cancel()
	return k.Launch(ctx, l)
}

// runText runs the kernel k of a module with one zeroed buffer of n bytes and returns the
// final content of the buffer.
func runText(t testing.TB, text string, grid, block, n int) []byte {
	t.Helper()
	return runOn(t, deviceFor(t, ptx.SM90a, Options{}), text, grid, block, make([]byte, n))
}

// runOn is runText on a given device, with the initial content of the buffer.
func runOn(t testing.TB, d *Device, text string, grid, block int, data []byte) []byte {
	t.Helper()
	b, err := d.Alloc(int64(len(data)))
	if err != nil {
		t.Fatal(err)
	}
	if err := b.Write(0, data); err != nil {
		t.Fatal(err)
	}
	l := device.Launch{Grid: device.D(grid), Block: device.D(block), Params: []device.Param{device.Ptr(b)}}
	if err := launchText(t, d, text, l); err != nil {
		t.Fatalf("launch: %v", err)
	}
	out := make([]byte, len(data))
	if err := b.Read(0, out); err != nil {
		t.Fatal(err)
	}
	return out
}

// failText runs the kernel k of a module as runText does. It fails the test unless the launch
// returns an error that contains all of the words.
func failText(t testing.TB, d *Device, text string, grid, block int, words ...string) error {
	t.Helper()
	b, err := d.Alloc(4096)
	if err != nil {
		t.Fatal(err)
	}
	err = launchText(t, d, text, device.Launch{Grid: device.D(grid), Block: device.D(block), Params: []device.Param{device.Ptr(b)}})
	if err == nil {
		t.Fatalf("the launch succeeded; want an error with %q", words)
	}
	for _, w := range words {
		if !strings.Contains(err.Error(), w) {
			t.Errorf("error %q does not say %q", err, w)
		}
	}
	return err
}

// u32s returns the little-endian words of b.
func u32s(b []byte) []uint32 {
	v := make([]uint32, len(b)/4)
	for i := range v {
		v[i] = binary.LittleEndian.Uint32(b[4*i:])
	}
	return v
}

// u64s returns the little-endian 64-bit words of b.
func u64s(b []byte) []uint64 {
	v := make([]uint64, len(b)/8)
	for i := range v {
		v[i] = binary.LittleEndian.Uint64(b[8*i:])
	}
	return v
}

// bytesOf returns the little-endian bytes of words.
func bytesOf(v ...uint32) []byte {
	var b []byte
	for _, x := range v {
		b = binary.LittleEndian.AppendUint32(b, x)
	}
	return b
}

func f32bits(v float32) uint32 { return math.Float32bits(v) }

// TestNarrowGridID wants the low bits of %gridid from the narrow reads that old code has.
func TestNarrowGridID(t *testing.T) {
	got := runText(t, kernelText(`
	mov.u32 %r1, %gridid;
	mov.u16 %h1, %gridid;
	cvt.u32.u16 %r2, %gridid;
	st.global.u32 [%rd0], %r1;
	st.global.u16 [%rd0+4], %h1;
	st.global.u32 [%rd0+8], %r2;`), 1, 1, 12)
	if want := []byte{1, 0, 0, 0, 1, 0, 0, 0, 1, 0, 0, 0}; !slices.Equal(got, want) {
		t.Errorf("the first launch has %%gridid %v, want %v", got, want)
	}
}
