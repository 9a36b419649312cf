package explain

import (
	"bytes"
	"strings"
	"testing"

	"github.com/GOATnote-Inc/attest/build"
	"github.com/GOATnote-Inc/attest/device"
	"github.com/GOATnote-Inc/attest/device/emu"
	"github.com/GOATnote-Inc/attest/internal/chips"
	"github.com/GOATnote-Inc/attest/internal/predict"
	"github.com/GOATnote-Inc/attest/internal/predict/warptrace"
	"github.com/GOATnote-Inc/attest/internal/term"
	"github.com/GOATnote-Inc/attest/ptx"
)

const threads = 256

// start begins a kernel with an input of floats and an output of one float per thread.
func start(name string) (k *build.Kernel, in, out build.Global[build.F32], tid build.U32) {
	k = build.New(name, ptx.SM90a)
	k.Version(8, 0)
	k.ReqNTid(threads)
	in, out = build.ParamGlobal[build.F32](k, "in"), build.ParamGlobal[build.F32](k, "out")
	return k, in, out, k.TidX()
}

// conflicts reads shared memory with a stride in words.
func conflicts(stride int) *build.Kernel {
	k, in, out, tid := start("conflicts")
	s := build.SharedArray[build.F32](k, "s", 32*33)
	k.If(tid.SetpLt(32), func() {
		v := in.At(tid).Ld()
		for i := range 33 {
			s.At(tid.Add(32 * i)).St(v)
		}
	})
	k.SyncThreads()
	at := s.At(tid.And(31).MulLo(stride))
	sums := build.Vars(k.F32(0), 4)
	k.Loop(0, 32, 1, func(build.U32) {
		for i := range 8 {
			sums[i%4].Set(sums[i%4].Get().Add(at.Plus(i).Ld()))
		}
	})
	out.At(tid).St(sums[0].Get().Add(sums[1].Get()).Add(sums[2].Get().Add(sums[3].Get())))
	return k
}

// burn is arithmetic without long chains that takes about 200 cycles per warp.
func burn(x build.F32) build.F32 {
	var parts [8]build.F32
	for i := range parts {
		parts[i] = x
		for range 24 {
			parts[i] = parts[i].FmaRn(x, x)
		}
	}
	for i := 1; i < len(parts); i++ {
		parts[0] = parts[0].Add(parts[i])
	}
	return parts[0]
}

// oneStage copies a tile, waits for it, and works on it, with one buffer.
func oneStage() *build.Kernel {
	k, in, out, tid := start("one_stage")
	s := build.SharedArray[build.F32](k, "s", threads*4)
	mine, sum := tid.MulLo(4), build.NewVar(k.F32(0))
	k.Loop(0, 16, 1, func(t build.U32) {
		k.CpAsyncCg(s.At(mine), in.At(t.MadLo(threads*4, mine)), 16)
		k.CpAsyncCommitGroup()
		k.CpAsyncWaitGroup(0)
		k.SyncThreads()
		sum.Set(sum.Get().Add(burn(s.At(mine).Ld())))
		k.SyncThreads()
	})
	out.At(tid).St(sum.Get())
	return k
}

// oneSlot is a ring of one slot: a warp fills it with bulk copies, the others work on it.
func oneSlot() *build.Kernel {
	k, in, out, tid := start("one_slot")
	const tile = 4096 // floats
	s := build.SharedAlign(build.SharedArray[build.F32](k, "s", tile), 128)
	full, empty := build.SharedArray[build.B64](k, "full", 1), build.SharedArray[build.B64](k, "empty", 1)
	k.If(tid.SetpEq(0), func() {
		k.MbarrierInit(full, 1)
		k.MbarrierInit(empty, threads-32)
		k.FenceMbarrierInitReleaseCluster()
	})
	k.SyncThreads()
	k.If(tid.SetpEq(threads-32), func() {
		k.Loop(0, 12, 1, func(t build.U32) {
			k.MbarrierWait(empty, t.Add(1).And(1))
			k.MbarrierArriveExpectTx(full, 4*tile)
			k.CpAsyncBulkSharedClusterGlobal(s, in.At(t.MulLo(tile)), 4*tile, full)
		})
	})
	k.If(tid.SetpLt(threads-32), func() {
		sum := build.NewVar(k.F32(0))
		k.Loop(0, 12, 1, func(t build.U32) {
			k.MbarrierWait(full, t.And(1))
			sum.Set(sum.Get().Add(burn(s.At(tid).Ld())))
			k.FenceProxyAsyncSharedCta()
			k.MbarrierArrive(empty)
		})
		out.At(tid).St(sum.Get())
	})
	return k
}

// serial lets one thread add the values of all threads.
func serial() *build.Kernel {
	k, in, out, tid := start("serial")
	s := build.SharedArray[build.F32](k, "s", threads)
	s.At(tid).St(burn(in.At(tid).Ld()))
	k.SyncThreads()
	k.If(tid.SetpEq(0), func() {
		sum := build.NewVar(k.F32(0))
		k.Loop(0, threads, 1, func(i build.U32) { sum.Set(sum.Get().Add(s.At(i).Ld())) })
		s.St(sum.Get())
	})
	k.SyncThreads()
	out.At(tid).St(s.Ld())
	return k
}

// chain is one long chain of additions in every thread.
func chain() *build.Kernel {
	k, in, out, tid := start("chain")
	sum := build.NewVar(k.F32(0))
	v := in.At(tid).Ld()
	k.Loop(0, 64, 1, func(build.U32) {
		x := sum.Get()
		for range 16 {
			x = x.Add(v)
		}
		sum.Set(x)
	})
	out.At(tid).St(sum.Get())
	return k
}

// explain returns the changes of a kernel on 132 blocks.
func explain(t *testing.T, k *build.Kernel) *Result {
	t.Helper()
	text, err := k.PTX()
	if err != nil {
		t.Fatal(err)
	}
	return explainText(t, text, k.Name(), 132, threads)
}

// explainText returns the changes of a kernel with an input and an output.
func explainText(t *testing.T, text, name string, blocks, threads int) *Result {
	t.Helper()
	rec := &warptrace.Recorder{Wants: warptrace.Spread(2)}
	dev, err := emu.New(ptx.SM90a, emu.Options{Observer: rec, Only: rec.Wants})
	if err != nil {
		t.Fatal(err)
	}
	defer dev.Close()
	m, err := dev.Load("k.ptx", text)
	if err != nil {
		t.Fatal(err)
	}
	f, err := m.Kernel(name)
	if err != nil {
		t.Fatal(err)
	}
	var params []device.Param
	for _, size := range []int64{1 << 23, 1 << 23} {
		b, err := dev.Alloc(size)
		if err != nil {
			t.Fatal(err)
		}
		if err := b.Write(0, make([]byte, size)); err != nil {
			t.Fatal(err)
		}
		params = append(params, device.Ptr(b))
	}
	if err := f.Launch(t.Context(), device.Launch{Grid: device.D(blocks), Block: device.D(threads), Params: params}); err != nil {
		t.Fatal(err)
	}
	chip, err := chips.Find("H200")
	if err != nil {
		t.Fatal(err)
	}
	r, err := Of(t.Context(), []predict.Work{{Trace: rec.Launches()[0]}}, chip, -1, func(string) {})
	if err != nil {
		t.Fatal(err)
	}
	return r
}

// TestPlanted checks that the first change is about the bottleneck that a kernel was given.
func TestPlanted(t *testing.T) {
	for _, c := range []struct {
		k          *build.Kernel
		kind, what string
		share      float64 // the least share of the time that the change saves
	}{
		{conflicts(32), "bank conflicts", "32.0 wavefronts per access, 1.0 without", 0.5},
		{oneStage(), "stages", "one more stage", 0.2},
		{oneSlot(), "stages", "one more stage", 0.2},
		{serial(), "serial reduction", "one thread runs 256 iterations", 0.5},
		{chain(), "serial reduction", "split the serial chain of add", 0.2},
	} {
		r := explain(t, c.k)
		if len(r.Changes) == 0 {
			t.Errorf("%s: no change is found", c.k.Name())
			continue
		}
		if first := r.Changes[0]; first.Kind != c.kind || !strings.Contains(first.What, c.what) || first.Share < c.share {
			t.Errorf("%s: the first change is %+v, want %s with %q", c.k.Name(), first, c.kind, c.what)
		}
		for _, x := range r.Changes {
			if x.Micros >= r.Predicted.Micros || x.Micros <= 0 || x.Launch != c.k.Name() {
				t.Errorf("%s: %+v", c.k.Name(), x)
			}
		}
	}
}

// TestHealthy checks that no bank conflict is named where there is none.
func TestHealthy(t *testing.T) {
	r := explain(t, conflicts(1))
	for _, c := range r.Changes {
		if c.Kind == "bank conflicts" || c.Kind == "stages" || c.Kind == "last wave" {
			t.Errorf("%+v", c)
		}
	}
	var out bytes.Buffer
	r.WriteText(&out, term.Style{})
	if !strings.Contains(out.String(), "PREDICTED for H200") || !strings.Contains(out.String(), " simulated changes") {
		t.Errorf("%s", &out)
	}
}
