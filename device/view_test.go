package device_test

import (
	"testing"

	"github.com/GOATnote-Inc/attest/device"
	"github.com/GOATnote-Inc/attest/device/emu"
	"github.com/GOATnote-Inc/attest/ptx"
)

// TestView reads and writes a part of a buffer, and nothing beyond it.
func TestView(t *testing.T) {
	dev, err := emu.New(ptx.SM80, emu.Options{})
	if err != nil {
		t.Fatal(err)
	}
	whole, err := dev.Alloc(32)
	if err != nil {
		t.Fatal(err)
	}
	v, err := device.View(whole, 16, 8)
	if err != nil {
		t.Fatal(err)
	}
	if v.Addr() != whole.Addr()+16 || v.Size() != 8 {
		t.Errorf("%#x, %d bytes", v.Addr()-whole.Addr(), v.Size())
	}
	got := make([]byte, 1)
	if err := v.Write(3, []byte{7}); err != nil || whole.Read(19, got) != nil || got[0] != 7 {
		t.Errorf("%v, %v", got, err)
	}
	if err := v.Read(3, got); err != nil || got[0] != 7 {
		t.Errorf("%v, %v", got, err)
	}
	for _, at := range []int64{-1, 8} {
		if v.Read(at, got) == nil || v.Write(at, got) == nil {
			t.Errorf("byte %d of a view of 8 bytes", at)
		}
	}
	for _, x := range [][2]int64{{-1, 1}, {0, 33}, {25, 8}, {0, -1}} {
		if _, err := device.View(whole, x[0], x[1]); err == nil {
			t.Errorf("%v of 32 bytes is a view", x)
		}
	}
	if v.Free() != nil || whole.Read(0, got) != nil {
		t.Error("freeing a view frees the buffer")
	}
}
