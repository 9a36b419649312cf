package emu_test

import (
	"bytes"
	"testing"

	"github.com/GOATnote-Inc/attest/device"
	"github.com/GOATnote-Inc/attest/device/emu"
	"github.com/GOATnote-Inc/attest/ptx"
)

const addOne = `.version 7.0
.target sm_80
.address_size 64
.visible .entry add_one(.param .u64 p, .param .u32 n)
{
	.reg .b64 %a;
	.reg .b32 %v, %n;
	ld.param.u64 %a, [p];
	ld.param.u32 %n, [n];
	ld.global.u32 %v, [%a];
	add.u32 %v, %v, %n;
	st.global.u32 [%a], %v;
	ret;
}
`

// TestStream runs a program with streams, events and graphs on the emulator.
func TestStream(t *testing.T) {
	d, err := emu.New(ptx.SM80, emu.Options{})
	if err != nil {
		t.Fatal(err)
	}
	var dev device.Streamer = d
	check := func(err error) {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
	}
	m, err := dev.Load("add.ptx", addOne)
	check(err)
	k, err := m.Kernel("add_one")
	check(err)
	s, err := dev.NewStream()
	check(err)
	b, err := dev.Alloc(4)
	check(err)
	c, err := dev.Alloc(4)
	check(err)
	h, err := dev.AllocHost(4)
	check(err)
	start, err := dev.NewEvent()
	check(err)
	end, err := dev.NewEvent()
	check(err)
	if _, err := end.Since(start); err == nil {
		t.Error("Since returns a time between events that were not recorded")
	}

	copy(h.Bytes(), []byte{7, 0, 0, 0})
	check(s.Record(start))
	check(s.Write(b, 0, h.Bytes()))
	param := device.U32(1)
	l := device.Launch{Grid: device.D(1), Block: device.D(1), Params: []device.Param{device.Ptr(b), param}}
	check(s.Launch(k, l))
	check(s.Record(end))
	check(s.Wait(end))

	g, err := dev.NewGraph(func(s device.Stream) error {
		for range 3 {
			if err := s.Launch(k, l); err != nil {
				return err
			}
		}
		if err := s.Copy(c, b); err != nil {
			return err
		}
		return s.Fill(b, 0)
	})
	check(err)
	param[0] = 100 // the graph has a copy of the old value
	check(g.Replay(s))
	check(s.Read(c, 0, h.Bytes()))
	check(s.Sync(t.Context()))
	if want := []byte{11, 0, 0, 0}; !bytes.Equal(h.Bytes(), want) {
		t.Errorf("7 + 1 + 3·1 = %v, want %v", h.Bytes(), want)
	}
	check(g.Replay(s))
	check(c.Read(0, h.Bytes()))
	if want := []byte{3, 0, 0, 0}; !bytes.Equal(h.Bytes(), want) {
		t.Errorf("0 + 3·1 = %v, want %v", h.Bytes(), want)
	}
	if took, err := end.Since(start); err != nil || took < 0 {
		t.Errorf("%v, %v", took, err)
	}
	if done, err := s.Done(); !done || err != nil {
		t.Errorf("%v, %v", done, err)
	}
}
