package cover_test

import (
	"context"
	"fmt"
	"io"
	"log"
	"slices"
	"testing"

	"github.com/GOATnote-Inc/attest/device"
	"github.com/GOATnote-Inc/attest/device/emu"
	"github.com/GOATnote-Inc/attest/device/emu/cover"
	"github.com/GOATnote-Inc/attest/ptx"
)

// hidden has code that runs only if n is above 100 or, by signed numbers, if n-5 is negative.
const hidden = `.version 8.0
.target sm_80
.address_size 64
.visible .entry k(.param .u32 n)
{
	.reg .pred %p<4>;
	.reg .b32 %r<8>;
	ld.param.u32 %r0, [n];
	setp.gt.u32 %p0, %r0, 100;
	@!%p0 bra SMALL;
	add.u32 %r1, %r0, 1;
	add.u32 %r1, %r1, 1;
SMALL:
	sub.s32 %r2, %r0, 5;
	setp.lt.s32 %p1, %r2, 0;
	@%p1 mov.u32 %r3, 7;
	mov.u32 %r4, %tid.x;
	setp.eq.u32 %p2, %r4, 3;
	@%p2 mov.u32 %r5, 7;
	ret;
}
.visible .entry other() { ret; }
`

func launch(t testing.TB, c *cover.Cover, text string, n uint32) {
	t.Helper()
	dev, err := emu.New(ptx.SM80, emu.Options{Observer: c, Output: io.Discard})
	if err != nil {
		t.Fatal(err)
	}
	m, err := dev.Load("hidden.ptx", text)
	if err != nil {
		t.Fatal(err)
	}
	k, err := m.Kernel("k")
	if err != nil {
		t.Fatal(err)
	}
	if err := k.Launch(t.Context(), device.Launch{Grid: device.D(4), Block: device.D(64), Params: []device.Param{device.U32(n)}}); err != nil {
		t.Fatal(err)
	}
}

// TestReport wants the lines and the outcomes of all launches together.
func TestReport(t *testing.T) {
	c := cover.New()
	for _, one := range []struct {
		n      uint32
		ran    int
		seen   int
		missed []int
	}{
		{40, 9, 4, []int{11, 12, 16}},
		{41, 9, 4, []int{11, 12, 16}},
		{101, 11, 5, []int{16}},
		{4, 12, 6, nil},
	} {
		launch(t, c, hidden, one.n)
		r := c.Report()
		if r.Lines != 12 || r.Outcomes != 6 || r.Ran != one.ran || r.Seen != one.seen || !slices.Equal(r.Missed, one.missed) {
			t.Errorf("n = %d: %+v, want %+v", one.n, r, one)
		}
	}
	if got := c.Report().String(); got != "100 % of 12 lines, 100 % of 6 branch outcomes" {
		t.Error(got)
	}
}

// TestEmpty launches a kernel without an instruction.
func TestEmpty(t *testing.T) {
	c := cover.New()
	launch(t, c, ".version 8.0\n.target sm_80\n.address_size 64\n.visible .entry k(.param .u32 n)\n{\n}\n", 1)
	if r := c.Report(); r.Lines != 0 || r.Ran != 0 {
		t.Errorf("%+v, want no line", r)
	}
}

// TestNear wants the distances of comparisons to the outcome that they have not had.
func TestNear(t *testing.T) {
	c := cover.New()
	distances := func() (list []uint64) {
		near := c.Near()
		for _, id := range c.Open() {
			list = append(list, near[id])
		}
		return list
	}
	for _, one := range []struct {
		n    uint32
		want []uint64
	}{{40, []uint64{61, 36}}, {90, []uint64{11, 86}}, {101, []uint64{97}}, {5, []uint64{1}}, {4, nil}} {
		c.Forget()
		launch(t, c, hidden, one.n)
		if got := distances(); !slices.Equal(got, one.want) {
			t.Errorf("n = %d: %v, want %v", one.n, got, one.want)
		}
	}
	facts := c.Facts()
	if launch(t, c, hidden, 7); c.Facts() != facts {
		t.Error("a launch that reaches nothing new has new facts")
	}
}

// Coverage of one launch.
func Example() {
	c := cover.New()
	dev, err := emu.New(ptx.SM80, emu.Options{Observer: c})
	if err != nil {
		log.Fatal(err)
	}
	m, err := dev.Load("hidden.ptx", hidden)
	if err != nil {
		log.Fatal(err)
	}
	k, err := m.Kernel("k")
	if err != nil {
		log.Fatal(err)
	}
	if err := k.Launch(context.Background(), device.Launch{Grid: device.D(1), Block: device.D(32), Params: []device.Param{device.U32(40)}}); err != nil {
		log.Fatal(err)
	}
	r := c.Report()
	fmt.Println(r, r.Missed)
	// Output: 75 % of 12 lines, 66 % of 6 branch outcomes [11 12 16]
}
