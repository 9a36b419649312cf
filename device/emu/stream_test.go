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

// streamTest holds a stream, the kernel add_one, two words of the device and one of the host.
type streamTest struct {
	t    *testing.T
	dev  device.Streamer
	k    device.Kernel
	s    device.Stream
	b, c device.Buffer
	h    device.HostBuffer
}

func newStreamTest(t *testing.T) *streamTest {
	d, err := emu.New(ptx.SM80, emu.Options{})
	x := &streamTest{t: t, dev: d}
	x.check(err)
	m, err := d.Load("add.ptx", addOne)
	x.check(err)
	x.k, err = m.Kernel("add_one")
	x.check(err)
	x.s, err = d.NewStream()
	x.check(err)
	x.b, err = d.Alloc(4)
	x.check(err)
	x.c, err = d.Alloc(4)
	x.check(err)
	x.h, err = d.AllocHost(4)
	x.check(err)
	return x
}

func (x *streamTest) check(err error) {
	x.t.Helper()
	if err != nil {
		x.t.Fatal(err)
	}
}

// want compares the word of the host.
func (x *streamTest) want(v byte) {
	x.t.Helper()
	if want := []byte{v, 0, 0, 0}; !bytes.Equal(x.h.Bytes(), want) {
		x.t.Errorf("the word is %v, want %v", x.h.Bytes(), want)
	}
}

// TestStream queues copies, a launch and events.
func TestStream(t *testing.T) {
	x := newStreamTest(t)
	start, err := x.dev.NewEvent()
	x.check(err)
	end, err := x.dev.NewEvent()
	x.check(err)
	if _, err := end.Since(start); err == nil {
		t.Error("Since returns a time between events that were not recorded")
	}
	x.h.Bytes()[0] = 7
	x.check(x.s.Record(start))
	x.check(x.s.Write(x.b, 0, x.h.Bytes()))
	x.check(x.s.Launch(x.k, device.Launch{Grid: device.D(1), Block: device.D(1), Params: []device.Param{device.Ptr(x.b), device.U32(1)}}))
	x.check(x.s.Record(end))
	x.check(x.s.Wait(end))
	x.check(x.s.Read(x.b, 0, x.h.Bytes()))
	x.check(x.s.Sync(t.Context()))
	x.want(7 + 1)
	if took, err := end.Since(start); err != nil || took < 0 {
		t.Errorf("%v, %v", took, err)
	}
	if done, err := x.s.Done(); !done || err != nil {
		t.Errorf("%v, %v", done, err)
	}
}

// TestGraph replays a graph of launches, a copy and a fill.
func TestGraph(t *testing.T) {
	x := newStreamTest(t)
	param := device.U32(1)
	l := device.Launch{Grid: device.D(1), Block: device.D(1), Params: []device.Param{device.Ptr(x.b), param}}
	x.check(x.b.Write(0, []byte{8, 0, 0, 0}))
	g, err := x.dev.NewGraph(func(s device.Stream) error {
		for range 3 {
			if err := s.Launch(x.k, l); err != nil {
				return err
			}
		}
		if err := s.Copy(x.c, x.b); err != nil {
			return err
		}
		return s.Fill(x.b, 0)
	})
	x.check(err)
	param[0] = 100 // the graph has a copy of the old value
	x.check(g.Replay(x.s))
	x.check(x.s.Read(x.c, 0, x.h.Bytes()))
	x.check(x.s.Sync(t.Context()))
	x.want(8 + 3*1)
	x.check(g.Replay(x.s))
	x.check(x.c.Read(0, x.h.Bytes()))
	x.want(0 + 3*1)
}
