package machine

import (
	"maps"
	"reflect"
	"slices"
	"testing"

	"github.com/GOATnote-Inc/attest/device/emu/observe"
	"github.com/GOATnote-Inc/attest/internal/predict/warptrace"
	"github.com/GOATnote-Inc/attest/ptx"
	"github.com/GOATnote-Inc/attest/ptx/isa"
	"github.com/GOATnote-Inc/attest/ptx/parse"
)

// TestEdit changes costs.
func TestEdit(t *testing.T) {
	id := IDs{3: true}
	for _, c := range []struct {
		name   string
		e      Edit
		o      Op
		want   cost
		groups int
	}{
		{"nothing", Edit{}, Op{cost: cost{unit: Float, slots: 1}}, cost{unit: Float, slots: 1}, 0},
		{"another operation", Edit{Free: IDs{4: true}}, Op{cost: cost{unit: Float, slots: 1}}, cost{unit: Float, slots: 1}, 0},
		{"free arithmetic", Edit{Free: id}, Op{cost: cost{unit: Float, slots: 1}}, cost{pure: true}, 0},
		{"a free fence", Edit{Free: id}, Op{cost: cost{unit: Memory, slots: 1, kind: fences}}, cost{pure: true}, 0},
		{"a barrier is not free", Edit{Free: id}, Op{cost: cost{unit: Sync, slots: 1, kind: barriers}}, cost{unit: Sync, slots: 1, kind: barriers}, 0},
		{"a polynomial", Edit{Polynomial: id}, Op{cost: cost{unit: Exp, slots: 4, latency: 32, hold: 8}}, cost{unit: Float, slots: 6, latency: 24, pure: true}, 0},
		{"a polynomial of no exponential", Edit{Polynomial: id}, Op{cost: cost{unit: ALU, slots: 1}}, cost{unit: ALU, slots: 1}, 0},
		{"a cheap division", Edit{Cheap: id}, Op{cost: cost{unit: ALU, slots: 20, latency: 140, pure: true}}, cost{unit: ALU, slots: 3, latency: 15, pure: true}, 0},
		{"a chain of a known latency", Edit{Chains: id}, Op{cost: cost{unit: Exp, slots: 1, latency: 40}}, cost{unit: Exp, slots: 1, latency: 10}, 0},
		{"a chain of the latency of its unit", Edit{Chains: id}, Op{cost: cost{unit: Exp, slots: 1}}, cost{unit: Exp, slots: 1, latency: 5}, 0},
		{"a chain of at least a cycle", Edit{Chains: id}, Op{cost: cost{unit: ALU, slots: 1, latency: 2}}, cost{unit: ALU, slots: 1, latency: 1}, 0},
		// 4096 operations at a quarter of 1024 per cycle.
		{"native products", Edit{Native: true}, Op{cost: cost{unit: Tensor, slots: 14, latency: 78, hold: 64}, flops: 4096}, cost{unit: Tensor, slots: 1, latency: 32, hold: 16}, 0},
		{"native, but no product", Edit{Native: true}, Op{cost: cost{unit: Float, slots: 1}}, cost{unit: Float, slots: 1}, 0},
		{"more groups", Edit{Groups: 2}, Op{cost: cost{kind: copyWait}, groups: 1}, cost{kind: copyWait}, 3},
		{"more groups of cp.async only", Edit{Groups: 2}, Op{cost: cost{kind: bulkWait}, groups: 1}, cost{kind: bulkWait}, 1},
	} {
		c.o.ID = 3
		c.e.apply(&c.o, known())
		if c.o.cost != c.want || c.o.groups != c.groups {
			t.Errorf("%s: %+v with %d groups, want %+v with %d", c.name, c.o.cost, c.o.groups, c.want, c.groups)
		}
	}
}

// TestEditedFact changes what an access did: 16 wavefronts of which 12 are conflicts, and 20 sectors in five lines
// of which 5 would do, which fill two lines.
func TestEditedFact(t *testing.T) {
	f := warptrace.Fact{Wavefronts: 16, Conflicts: 12, Sectors: 20, Needed: 5, Lines: []uint64{1, 2, 3, 4, 5}}
	plain, id := f, IDs{3: true}
	for _, c := range []struct {
		name string
		e    Edit
		f    warptrace.Fact
		want warptrace.Fact
	}{
		{"nothing", Edit{}, f, plain},
		{"another access", Edit{NoConflicts: IDs{4: true}, Coalesced: IDs{5: true}}, f, plain},
		{"no conflicts", Edit{NoConflicts: id}, f, warptrace.Fact{Wavefronts: 4, Conflicts: 12, Sectors: 20, Needed: 5, Lines: f.Lines}},
		{"coalesced", Edit{Coalesced: id}, f, warptrace.Fact{Wavefronts: 16, Conflicts: 12, Sectors: 5, Needed: 5, Lines: []uint64{1, 2}}},
		{"four sectors are one line", Edit{Coalesced: id}, warptrace.Fact{Sectors: 9, Needed: 4, Lines: []uint64{1, 2, 3}}, warptrace.Fact{Sectors: 4, Needed: 4, Lines: []uint64{1}}},
		{"both", Edit{NoConflicts: id, Coalesced: id}, f, warptrace.Fact{Wavefronts: 4, Conflicts: 12, Sectors: 5, Needed: 5, Lines: []uint64{1, 2}}},
		{"nothing to save", Edit{NoConflicts: id, Coalesced: id}, warptrace.Fact{Wavefronts: 4, Sectors: 5, Needed: 5, Lines: []uint64{1}}, warptrace.Fact{Wavefronts: 4, Sectors: 5, Needed: 5, Lines: []uint64{1}}},
		{"no conflicts, and scattered", Edit{NoConflicts: id}, warptrace.Fact{Wavefronts: 4, Sectors: 9, Needed: 4, Lines: []uint64{1}}, warptrace.Fact{Wavefronts: 4, Sectors: 9, Needed: 4, Lines: []uint64{1}}},
	} {
		if got := c.e.fact(3, &c.f); !reflect.DeepEqual(*got, c.want) {
			t.Errorf("%s: %+v, want %+v", c.name, *got, c.want)
		}
	}
	if !reflect.DeepEqual(f, plain) {
		t.Errorf("an edit has changed the trace: %+v", f)
	}
}

// lowered prepares the instructions of a text for replays.
func lowered(t *testing.T, text string) *Machine {
	t.Helper()
	m, err := parse.Parse("k.ptx", ".version 8.0\n.target sm_90a\n.address_size 64\n.entry k(.param .u64 out)\n{\n"+registers+text+"}\n")
	if err != nil {
		t.Fatal(err)
	}
	f := m.Funcs()[0]
	var program []observe.Inst
	for _, s := range f.Body {
		if in, ok := s.(*ptx.Inst); ok {
			b, err := isa.BindInst(in)
			if err != nil {
				t.Fatal(err)
			}
			program = append(program, observe.Inst{Bound: b, Func: f, ID: len(program)})
		}
	}
	r := known()
	return &Machine{rates: r, code: lower(program, r, ptx.SM90a, &Edit{}), run: &warptrace.Launch{Program: program}, edit: &Edit{}}
}

// TestDivides wants divisions of integers by variables.
func TestDivides(t *testing.T) {
	m := lowered(t, `	ld.param.u64 %rd1, [out];
	mov.u32 %r0, %tid.x;
	mul.wide.u32 %rd2, %r0, 16;
	add.u64 %rd0, %rd1, %rd2;
	ld.global.u32 %r1, [%rd0];
	ld.global.u32 %r2, [%rd0+4];
	ld.global.f32 %f1, [%rd0+8];
	div.u32 %r3, %r1, %r2;
	rem.u32 %r4, %r1, %r2;
	div.u32 %r5, %r1, 7;
	div.full.f32 %f2, %f1, %f1;
	add.u32 %r6, %r3, %r4;
	add.u32 %r6, %r6, %r5;
	cp.async.wait_group 0;
	st.global.u32 [%rd0], %r6;
	st.global.f32 [%rd0+8], %f2;
	ret;
`)
	for id, want := range map[int32]bool{7: true, 8: true, 9: false, 10: false, 11: false} {
		if got := m.Divides(id); got != want {
			t.Errorf("%s divides: %v", m.run.Program[id].Op.Text, got)
		}
	}
	if !m.WaitsForCopies(13) || m.WaitsForCopies(12) {
		t.Error("only cp.async.wait_group waits for copies")
	}
	if got := m.UnitOf(7); got != ALU {
		t.Errorf("a division is of the unit %v", got)
	}
}

// TestChained wants the links of a chain, also through moves.
func TestChained(t *testing.T) {
	m := lowered(t, `	ld.param.u64 %rd1, [out];
	mov.u32 %r0, %tid.x;
	mul.wide.u32 %rd2, %r0, 16;
	add.u64 %rd0, %rd1, %rd2;
	ld.global.f32 %f1, [%rd0];
	ld.global.f32 %f4, [%rd0+4];
$L:
	fma.rn.f32 %f2, %f1, %f1, %f4;
	mov.f32 %f3, %f2;
	mov.f32 %f1, %f3;
	ex2.approx.ftz.f32 %f5, %f1;
	add.rn.f32 %f6, %f5, %f4;
	setp.lt.f32 %p0, %f1, %f4;
	@%p0 bra $L;
	st.global.f32 [%rd0], %f1;
	st.global.f32 [%rd0+4], %f6;
	ret;
`)
	const fma, exp, add = 6, 9, 10
	for _, c := range []struct {
		name string
		set  IDs
		want []int32
	}{
		{"an accumulator", IDs{fma: true}, []int32{fma}},
		{"no chain", IDs{exp: true}, nil},
		{"one reads another", IDs{exp: true, add: true}, []int32{add}},
		{"both", IDs{fma: true, exp: true}, []int32{fma, exp}},
	} {
		got := slices.Sorted(maps.Keys(m.Chained(c.set)))
		if !slices.Equal(got, c.want) {
			t.Errorf("%s: %v, want %v", c.name, got, c.want)
		}
	}
}
