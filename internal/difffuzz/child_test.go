package difffuzz

import (
	"bytes"
	"errors"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/GOATnote-Inc/attest/device"
	"github.com/GOATnote-Inc/attest/ptx"
)

// TestChild checks that a batch has the same outcomes in another process.
func TestChild(t *testing.T) {
	c := &Child{Command: workerProcess("emu")}
	defer c.Close()
	info, err := c.Info()
	if err != nil || info.Target != ptx.SM90a {
		t.Fatal(info, err)
	}
	b := NewBatch([]*Kernel{Generate(1, latest), Generate(2, latest)})
	there, err := c.Run(t.Context(), b)
	if err != nil {
		t.Fatal(err)
	}
	here, err := (&Local{Device: emulator(t, ptx.SM90a, 0)}).Run(t.Context(), b)
	if err != nil {
		t.Fatal(err)
	}
	for i := range here {
		if !bytes.Equal(here[i].Out, there[i].Out) || !bytes.Equal(here[i].Mem, there[i].Mem) {
			t.Errorf("job %d differs", i)
		}
	}
}

// TestChildSurvives runs three kernels, one of which faults: the others must still run. A
// module that is refused before them must have no effect.
func TestChildSurvives(t *testing.T) {
	c := &Child{Command: workerProcess("emu")}
	defer c.Close()
	if _, err := c.Run(t.Context(), &Batch{Text: "nonsense", Jobs: make([]Job, 1)}); !errors.As(err, new(*Refused)) {
		t.Fatalf("nonsense gives %v", err)
	}
	b := NewBatch([]*Kernel{Generate(1, latest), faulty(), Generate(2, latest)})
	outs, err := c.Run(t.Context(), b)
	if err != nil {
		t.Fatal(err)
	}
	for i, faults := range []bool{false, true, false} {
		if (outs[i].Fault != "") != faults {
			t.Errorf("job %d: %q", i, outs[i].Fault)
		}
	}
}

// faulty returns a kernel that stores to an address without memory.
func faulty() *Kernel {
	k := Generate(3, latest)
	k.Body = []*Node{node(act("st.global.b32", "[%no]", "0")).with(".reg .b64 %no;")}
	k.Body[0].Insts = append([]Inst{inst("mov.u64", "%no", "64")}, k.Body[0].Insts...)
	return k
}

// TestChildDies checks the error if the process ends while it loads a module.
func TestChildDies(t *testing.T) {
	c := &Child{Command: workerProcess("dies"), Timeout: 20 * time.Second}
	defer c.Close()
	_, err := c.Run(t.Context(), NewBatch([]*Kernel{Generate(1, latest)}))
	if !errors.As(err, new(*Refused)) {
		t.Errorf("a process that dies gives %v", err)
	}
	none := &Child{Command: workerProcess("none")}
	defer none.Close()
	if _, err := none.Info(); err == nil || !strings.Contains(err.Error(), "did not start") {
		t.Errorf("no device gives %v", err)
	}
}

// TestCrash uses a compiler that crashes on every kernel: the kernels must be counted as
// crashes, not as finds.
func TestCrash(t *testing.T) {
	f := &Fuzzer{Options: latest, Seed: 7, Batch: 2, Kernels: 3, Open: func() (*Pair, error) {
		return &Pair{&Local{Device: emulator(t, ptx.SM90a, 0)}, &Child{Command: workerProcess("dies")}}, nil
	}}
	stats, err := f.Run(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	if len(stats.Finds) > 0 || !slices.Equal(stats.Crashed, []uint64{7, 8, 9}) || stats.Kernels != 3 {
		t.Errorf("%+v", stats)
	}
}

// TestFaultIsFound plants a fault on one device: it must be found as a difference of kind
// fault.
func TestFaultIsFound(t *testing.T) {
	bad := &mutant{Device: emulator(t, ptx.SM90a, 0), change: func(s string) string {
		return strings.ReplaceAll(s, "brev.b32 ", "trap; brev.b32 ")
	}}
	f := &Fuzzer{Options: latest, Batch: 8, Kernels: 400, Open: func() (*Pair, error) {
		return &Pair{&Local{Device: emulator(t, ptx.SM90a, 0)}, &Local{Device: bad}}, nil
	}}
	ctx, stop := contextWithStop(t)
	f.Found = func(*Find) error { stop(); return nil }
	stats, err := f.Run(ctx)
	if err != nil {
		t.Fatal(err)
	}
	if len(stats.Finds) == 0 {
		t.Fatal("not found")
	}
	if find := stats.Finds[0]; find.Difference.Kind != "fault" || find.Kernel.Size() > 2 {
		t.Errorf("%v, %d instructions", find.Difference, find.Kernel.Size())
	}
}

// TestBlocksMatter uses a device on which results depend on the number of blocks: a launch
// with one more block must show the difference.
func TestBlocksMatter(t *testing.T) {
	sees := func(s string) string { return strings.ReplaceAll(s, ", %laneid;", ", %nctaid.x;") }
	open := func() device.Device { return &mutant{Device: emulator(t, ptx.SM90a, 0), change: sees} }
	p := &Pair{&Local{Device: open()}, &Local{Device: open(), ExtraBlocks: 1}}
	k := Generate(1, latest)
	k.Body = []*Node{node(inst("mov.u32", "%r1", "%laneid"))}
	ds, err := p.differ(t.Context(), []*Kernel{k})
	if err != nil || ds[0] == nil || ds[0].What != "%r1" {
		t.Errorf("%v, %v", ds, err)
	}
}

// TestGuard runs a kernel that stores right behind its outputs: the outcome must say so. A
// kernel that stays in its buffers must have no fault.
func TestGuard(t *testing.T) {
	b := NewBatch([]*Kernel{Generate(1, latest)})
	l := &Local{Device: emulator(t, ptx.SM90a, 0), GuardBytes: gpuGuard}
	outs, err := l.Run(t.Context(), b)
	if err != nil || outs[0].Fault != "" {
		t.Fatal(outs, err)
	}
	b = &Batch{Text: `.version 8.4
.target sm_90a
.address_size 64
.visible .entry k0(.param .u64 in, .param .u64 out)
{
	.reg .b64 %out;
	ld.param.u64 %out, [out];
	st.global.u32 [%out+64], 1;
	ret;
}
`, Jobs: []Job{{Name: "k0", Blocks: 1, Block: device.D(1), Data: Data{In: make([]byte, 16), Out: 64}}}}
	outs, err = l.Run(t.Context(), b)
	if err != nil || outs[0].Fault != "a store behind a buffer of 64 bytes" {
		t.Errorf("%v, %v", outs, err)
	}
}
