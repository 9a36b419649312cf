package cuda_test

import (
	"encoding/binary"
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/GOATnote-Inc/attest/device"
	"github.com/GOATnote-Inc/attest/device/cuda"
	"github.com/GOATnote-Inc/attest/finding"
)

// lastText is a kernel that writes the block's rank in its cluster through the last word of
// its dynamic shared memory to the block's word of p.
const lastText = `.version 7.8
.target sm_90
.address_size 64
.extern .shared .align 16 .b8 dynamic[];
.visible .entry last(.param .u64 p, .param .u32 n)
{
	.reg .b64 %a;
	.reg .b32 %n, %s, %r, %i;
	ld.param.u64 %a, [p];
	ld.param.u32 %n, [n];
	mov.u32 %s, dynamic;
	add.u32 %s, %s, %n;
	mov.u32 %r, %cluster_ctarank;
	st.shared.u32 [%s+-4], %r;
	ld.shared.u32 %r, [%s+-4];
	mov.u32 %i, %ctaid.x;
	mad.wide.u32 %a, %i, 4, %a;
	st.global.u32 [%a], %r;
	ret;
}
`

// TestSharedAndClusters launches with all the shared memory that a block may use, and with
// clusters of up to 16 blocks.
func TestSharedAndClusters(t *testing.T) {
	d := gpu(t)
	if d.Info().Target.SM < 90 {
		t.Skip("clusters need sm_90")
	}
	k := loadKernel(t, d, "last.ptx", lastText, "last")
	b, err := d.Alloc(4 * 16)
	check(t, err)
	for _, c := range []struct{ cluster, shared int }{{1, 1024}, {1, d.Info().SharedMax}, {2, 100 << 10}, {8, 50 << 10}, {16, 50 << 10}, {1, 2048}} {
		check(t, b.Write(0, make([]byte, 64)))
		l := device.Launch{
			Grid: device.D(16), Block: device.D(32), Cluster: device.D(c.cluster), Shared: c.shared,
			Params: []device.Param{device.Ptr(b), device.U32(uint32(c.shared))},
		}
		o, err := k.(device.OccupancyKernel).Occupancy(l)
		check(t, err)
		t.Logf("clusters of %d, %d bytes: %+v", c.cluster, c.shared, o)
		if o.BlocksPerSM < 1 || o.Fraction <= 0 || o.Fraction > 1 || (o.Clusters > 0) != (c.cluster > 1) {
			t.Errorf("occupancy %+v", o)
		}
		check(t, k.Launch(t.Context(), l))
		got := make([]byte, 64)
		check(t, b.Read(0, got))
		for i := range 16 {
			if r := binary.LittleEndian.Uint32(got[4*i:]); int(r) != i%c.cluster {
				t.Errorf("clusters of %d, %d bytes: block %d has rank %d", c.cluster, c.shared, i, r)
			}
		}
	}
	l := device.Launch{Grid: device.D(1), Block: device.D(32), Shared: d.Info().SharedMax + 1, Params: []device.Param{device.Ptr(b), device.U32(4)}}
	if err := k.Launch(t.Context(), l); err == nil || !strings.Contains(err.Error(), "bytes of shared memory") {
		t.Errorf("more shared memory than the GPU has: %v", err)
	}
}

// togetherText is a kernel in which every block waits until all n blocks have arrived.
const togetherText = `.version 7.8
.target sm_60
.address_size 64
.visible .entry together(.param .u64 p, .param .u32 n)
{
	.reg .b64 %a;
	.reg .b32 %n, %v;
	.reg .pred %q;
	ld.param.u64 %a, [p];
	ld.param.u32 %n, [n];
	red.global.add.u32 [%a], 1;
again:
	ld.volatile.global.u32 %v, [%a];
	setp.lt.u32 %q, %v, %n;
	@%q bra again;
	ret;
}
`

// TestCooperative launches blocks that wait for each other, as many as fit on the GPU. A
// launch with one block more must be refused instead of hanging.
func TestCooperative(t *testing.T) {
	d := gpu(t)
	k := loadKernel(t, d, "together.ptx", togetherText, "together")
	l := device.Launch{Grid: device.D(1), Block: device.D(1), Shared: d.Info().SharedMax / 2, Cooperative: true}
	o, err := k.(device.OccupancyKernel).Occupancy(l)
	check(t, err)
	blocks := o.BlocksPerSM * d.Info().SMs
	b, err := d.Alloc(4)
	check(t, err)
	check(t, b.Write(0, make([]byte, 4)))
	l.Grid, l.Params = device.D(blocks), []device.Param{device.Ptr(b), device.U32(uint32(blocks))}
	check(t, k.Launch(t.Context(), l))
	l.Grid = device.D(blocks + 1)
	var e *cuda.Error
	if err := k.Launch(t.Context(), l); !errors.As(err, &e) || e.Name != "CUDA_ERROR_COOPERATIVE_LAUNCH_TOO_LARGE" {
		t.Errorf("%d blocks at once: %v", blocks+1, err)
	}
	check(t, b.Write(0, make([]byte, 4))) // the context is still usable
}

// chainText is a kernel that lets the next launch start, waits for the previous launch and
// adds to a word.
const chainText = `.version 7.8
.target sm_90
.address_size 64
.visible .entry chain(.param .u64 p)
{
	.reg .b64 %a;
	.reg .b32 %v;
	ld.param.u64 %a, [p];
	griddepcontrol.launch_dependents;
	griddepcontrol.wait;
	ld.global.u32 %v, [%a];
	mad.lo.u32 %v, %v, 3, 1;
	st.global.u32 [%a], %v;
	ret;
}
`

// TestDependent checks that programmatic dependent launches see the writes of the launch
// before them.
func TestDependent(t *testing.T) {
	d := gpu(t)
	if d.Info().Target.SM < 90 {
		t.Skip("programmatic dependent launch needs sm_90")
	}
	k := loadKernel(t, d, "chain.ptx", chainText, "chain")
	b, err := d.Alloc(4)
	check(t, err)
	check(t, b.Write(0, make([]byte, 4)))
	s := newStream(t, d)
	l := device.Launch{Grid: device.D(1), Block: device.D(1), Params: []device.Param{device.Ptr(b)}, Dependent: true}
	want := uint32(0)
	for range 100 {
		check(t, s.Launch(k, l))
		want = 3*want + 1
	}
	g, err := d.NewGraph(func(s device.Stream) error {
		for range 50 {
			if err := s.Launch(k, l); err != nil {
				return err
			}
		}
		return nil
	})
	check(t, err)
	for range 2 {
		check(t, g.Replay(s))
		for range 50 {
			want = 3*want + 1
		}
	}
	check(t, s.Sync(t.Context()))
	got := make([]byte, 4)
	check(t, b.Read(0, got))
	if v := binary.LittleEndian.Uint32(got); v != want {
		t.Errorf("%d, want %d", v, want)
	}
}

// TestBadPTX checks that errors of the compiler reach the caller with their lines.
func TestBadPTX(t *testing.T) {
	d := gpu(t)
	text := `.version 7.8
.target sm_52
.address_size 64
.file 1 "bad.cu"
.visible .entry k()
{
	.reg .b32 %r<2>;
	.loc 1 7 3
	frobnicate.u32 %r1, %r0;
	ret;
}
`
	for _, j := range []cuda.JIT{{}, {Relocatable: true}} {
		_, err := d.LoadWith("bad.ptx", text, j)
		t.Log(err)
		var ce *device.CompileError
		var e *cuda.Error
		if !errors.As(err, &ce) || !errors.As(err, &e) || len(ce.Findings) == 0 {
			t.Errorf("%+v", ce)
			continue
		}
		if f := ce.Findings[0]; f.Pos.Line != 9 || f.Pos.Col != 2 || f.Source != "bad.cu:7:3" || f.Severity != finding.Error {
			t.Errorf("%+v", f)
		}
	}
}

// TestNewerPTX loads PTX for a target, and of a version, that is newer than the GPU and the
// driver.
func TestNewerPTX(t *testing.T) {
	d := gpu(t)
	i := d.Info()
	_, err := d.Load("newer.ptx", strings.Replace(text(t, "newer"), "sm_100a", fmt.Sprintf("sm_%da", i.Target.SM+10), 1))
	t.Log(err)
	var ce *device.CompileError
	if !errors.As(err, &ce) || !strings.Contains(err.Error(), i.Name) || !strings.Contains(err.Error(), "does not run on") {
		t.Error("the error does not name the newer target")
	}
	_, err = d.Load("newer.ptx", strings.Replace(countText, ".version 7.8", ".version 99.0", 1))
	t.Log(err)
	if err == nil || !strings.Contains(err.Error(), "lower its .version") && !strings.Contains(err.Error(), "ersion") {
		t.Error("a newer version is accepted")
	}
}
