package mutate

import (
	"slices"
	"strings"
	"testing"

	"github.com/GOATnote-Inc/attest/ptx/parse"
)

// program has a prologue, a loop with an exponential and an epilogue.
const program = `.version 8.0
.target sm_90a
.address_size 64
.file 1 "src/kernel.cu"

.visible .entry k(
	.param .u64 out,
	.param .u32 n
)
{
	.reg .pred %p<4>;
	.reg .b32 %r<8>;
	.reg .f32 %f<4>;
	.reg .b64 %d<4>;
	.shared .align 8 .b64 bar;
	.loc 1 10 1
	ld.param.u64 %d0, [out];
	ld.param.u32 %r0, [n];
	mov.u32 %r1, %tid.x;
	mov.u32 %r2, bar;
	mov.f32 %f0, 0f3F800000;
	bar.sync 0;
LOOP:
	.loc 1 20 1
	cp.async.wait_group 1;
	ex2.approx.f32 %f1, %f0;
	sub.rn.f32 %f0, %f1, %f0;
WAIT:
	mbarrier.try_wait.parity.shared.b64 %p0, [%r2], %r1;
	@!%p0 bra WAIT;
	sub.u32 %r0, %r0, 1;
	setp.gt.s32 %p1, %r0, 0;
	@%p1 bra LOOP;
	.loc 1 30 1
	selp.f32 %f2, %f0, %f1, %p1;
	mad.wide.u32 %d1, %r1, 4, %d0;
	st.global.f32 [%d1+16], %f2;
	ret;
}
`

func mutants(t *testing.T) (*Program, []*Mutant) {
	t.Helper()
	p, err := Parse("k.ptx", program)
	if err != nil {
		t.Fatal(err)
	}
	return p, p.Mutants()
}

// TestOperators wants changes of each operator at their regions and lines.
func TestOperators(t *testing.T) {
	p, all := mutants(t)
	for _, want := range []struct {
		operator string
		region   Region
		part     Part
		source   string
		change   string
	}{
		{"sync-remove", Prologue, Syncs, "kernel.cu:10", "bar.sync 0; is removed"},
		{"sync-remove", MainLoop, Syncs, "kernel.cu:20", "cp.async.wait_group 1; is removed"},
		{"sync-weaken", MainLoop, Syncs, "kernel.cu:20", "cp.async.wait_group 1; becomes cp.async.wait_group 2;"},
		{"sync-remove", MainLoop, Control, "kernel.cu:20", "@!%p0 bra WAIT; is removed"},
		{"sync-remove", MainLoop, Syncs, "kernel.cu:20", "mbarrier.try_wait.parity.shared.b64 %p0, [%r2], %r1; @!%p0 bra WAIT; is removed"},
		{"operand-swap", MainLoop, Floats, "kernel.cu:20", "sub.rn.f32 %f0, %f1, %f0; becomes sub.rn.f32 %f0, %f0, %f1;"},
		{"operand-other", Epilogue, Stores, "kernel.cu:30", "st.global.f32 [%d1+16], %f2; becomes st.global.f32 [%d0+16], %f2;"},
		{"const-plus", MainLoop, Addresses, "kernel.cu:20", "setp.gt.s32 %p1, %r0, 0; becomes setp.gt.s32 %p1, %r0, 1;"},
		{"const-minus", Epilogue, Stores, "kernel.cu:30", "st.global.f32 [%d1+16], %f2; becomes st.global.f32 [%d1+15], %f2;"},
		{"const-double", Epilogue, Addresses, "kernel.cu:30", "mad.wide.u32 %d1, %r1, 4, %d0; becomes mad.wide.u32 %d1, %r1, 8, %d0;"},
		{"float-double", Prologue, Floats, "kernel.cu:10", "mov.f32 %f0, 0f3F800000; becomes mov.f32 %f0, 0f40000000;"},
		{"float-negate", Prologue, Floats, "kernel.cu:10", "mov.f32 %f0, 0f3F800000; becomes mov.f32 %f0, 0fBF800000;"},
		{"guard-negate", MainLoop, Control, "kernel.cu:20", "@%p1 bra LOOP; becomes @!%p1 bra LOOP;"},
		{"guard-drop", MainLoop, Control, "kernel.cu:20", "@%p1 bra LOOP; becomes bra LOOP;"},
		{"branch-remove", MainLoop, Control, "kernel.cu:20", "@%p1 bra LOOP; is removed"},
		{"pred-negate", Epilogue, Floats, "kernel.cu:30", "selp.f32 %f2, %f0, %f1, %p1; becomes selp.f32 %f2, %f0, %f1, !%p1;"},
		{"opcode", MainLoop, Addresses, "kernel.cu:20", "sub.u32 %r0, %r0, 1; becomes add.u32 %r0, %r0, 1;"},
		{"compare", MainLoop, Addresses, "kernel.cu:20", "setp.gt.s32 %p1, %r0, 0; becomes setp.ge.s32 %p1, %r0, 0;"},
		{"rounding", MainLoop, Floats, "kernel.cu:20", "sub.rn.f32 %f0, %f1, %f0; becomes sub.rz.f32 %f0, %f1, %f0;"},
		{"ftz", MainLoop, Floats, "kernel.cu:20", "ex2.approx.f32 %f1, %f0; becomes ex2.approx.ftz.f32 %f1, %f0;"},
		{"saturate", MainLoop, Floats, "kernel.cu:20", "sub.rn.f32 %f0, %f1, %f0; becomes sub.rn.sat.f32 %f0, %f1, %f0;"},
	} {
		i := slices.IndexFunc(all, func(m *Mutant) bool { return m.Operator == want.operator && m.Change() == want.change })
		if i < 0 {
			t.Errorf("%s: no mutant in which %s", want.operator, want.change)
			continue
		}
		m := all[i]
		if m.Region != want.region || m.Part != want.part || m.Source != want.source {
			t.Errorf("%s: %s, %s, %s", want.change, m.Region, m.Part, m.Source)
		}
		line := strings.Split(p.Text(m), "\n")
		if m.After != "" && !slices.Contains(line, "\t"+m.After) {
			t.Errorf("the text lacks %s", m.After)
		}
	}
}

// TestOneChange wants every mutant to differ from the program in one line, and to be readable.
func TestOneChange(t *testing.T) {
	p, all := mutants(t)
	before := strings.Split(p.module.String(), "\n")
	for _, m := range all {
		text := p.Text(m)
		if _, err := parse.Parse("mutant.ptx", text); err != nil {
			t.Errorf("%s: %v", m.Change(), err)
		}
		after := strings.Split(text, "\n")
		changed := 0
		for _, line := range after {
			if i := slices.Index(before, line); i < 0 {
				changed++
			}
		}
		if removed := len(before) - len(after); removed+changed != 1 && (m.also == 0 || removed != 2) {
			t.Errorf("%s: %d lines are new and %d are missing", m.Change(), changed, removed)
		}
	}
	if got := strings.Split(p.module.String(), "\n"); !slices.Equal(got, before) {
		t.Error("the program was changed")
	}
}

// TestPick wants all mutants of the synchronisation, every stratum once before any twice, and
// the same sample for the same seed.
func TestPick(t *testing.T) {
	p, all := mutants(t)
	pick := func(count int, seed uint64) (list []string) {
		for m := range p.Pick(all, count, seed) {
			list = append(list, m.Operator+" "+string(m.Region)+" "+m.Change())
		}
		return list
	}
	if n := len(pick(0, 1)); n != 5 {
		t.Errorf("%d mutants of the synchronisation, want 5", n)
	}
	a, b := pick(12, 1), pick(12, 1)
	if !slices.Equal(a, b) || len(a) != 17 {
		t.Errorf("%d mutants, not the same again: %q", len(a), a)
	}
	if slices.Equal(a, pick(12, 2)) {
		t.Error("another seed gives the same sample")
	}
	seen := map[string]bool{}
	for _, m := range a {
		key := strings.Join(strings.Fields(m)[:2], " ")
		if seen[key] && !strings.HasPrefix(key, "sync-") {
			t.Errorf("a second mutant of %s, and other strata have none", key)
		}
		seen[key] = true
	}
	valid := 0
	for _, m := range all {
		if p.Check(m) == nil {
			valid++
		}
	}
	list := pick(1<<20, 1)
	slices.Sort(list)
	if n := len(slices.Compact(list)); n != valid {
		t.Errorf("the largest sample has %d different mutants of %d", n, valid)
	}
}

// TestPickOrder wants the beginning of a sample to have the shares of all of it: a run whose time
// ends early must neither miss the synchronisation nor prefer the first operators.
func TestPickOrder(t *testing.T) {
	p, all := mutants(t)
	first := map[string]bool{}
	for seed := range uint64(20) {
		var sync []int // the mutants of the synchronisation in each half
		at := 0
		for m := range p.Pick(all, 15, seed) {
			if at == 0 || at == 10 {
				sync = append(sync, 0)
			}
			if m.Sync() {
				sync[len(sync)-1]++
			} else if at < 3 {
				first[m.Operator+" "+string(m.Region)] = true
			}
			at++
		}
		if len(sync) != 2 || min(sync[0], sync[1]) != 2 || sync[0]+sync[1] != 5 {
			t.Errorf("seed %d: the halves of the sample have %v mutants of the synchronisation, want 2 and 3", seed, sync)
		}
	}
	if len(first) < 5 {
		t.Errorf("20 samples begin with the strata %v only", first)
	}
}
