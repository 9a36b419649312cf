package isa

import (
	"slices"
	"strings"
	"testing"

	"github.com/GOATnote-Inc/attest/ptx"
)

// unclassified returns the syntax of each form that has a variant without a unit or a role.
func unclassified(families []*Family) (missing []string) {
	for _, fam := range families {
		for _, f := range fam.Forms {
			for m := range f.Variants() {
				if c := m.Class(); c.Unit == UnitUnknown || c.Role == RoleUnknown {
					missing = append(missing, f.Syntax)
					break
				}
			}
		}
	}
	return missing
}

// TestEveryFormHasAClass checks that every entry of the table has a unit and a memory role.
func TestEveryFormHasAClass(t *testing.T) {
	for _, syntax := range unclassified(Families) {
		t.Errorf("%s has no unit or no memory role: add a rule to classRules", syntax)
	}
	unknown := &Family{Name: "test", Forms: []*Form{form("frobnicate.u32 =d, a"), form("add.u32 =d, a, b")}}
	if got := unclassified([]*Family{unknown}); !slices.Equal(got, []string{"frobnicate.u32 =d, a"}) {
		t.Errorf("for a family with one unknown opcode, unclassified returns %q", got)
	}
}

// TestClassRulesAreUsed checks that the table has the opcodes of every rule, and that some
// form has its modifiers.
func TestClassRulesAreUsed(t *testing.T) {
	for _, r := range slices.Concat(classRules, waitRules) {
		used := false
		for op := range strings.FieldsSeq(r.ops) {
			if len(Forms(op)) == 0 {
				t.Errorf("rule %v: the table has no %s", r, op)
			}
			used = used || slices.ContainsFunc(Forms(op), func(f *Form) bool { return f.takes(r.has) })
		}
		if !used {
			t.Errorf("rule %v: no form has these modifiers", r)
		}
	}
}

// takes reports whether the form has slots for all of the modifiers.
func (f *Form) takes(mods string) bool {
	for mod := range strings.FieldsSeq(mods) {
		if !slices.ContainsFunc(f.Slots, func(s Slot) bool { return slices.Contains(s.Alts, mod) }) {
			return false
		}
	}
	return true
}

func TestClass(t *testing.T) {
	global, shared, generic := spaces(ptx.Global), spaces(ptx.Shared), spaces(ptx.Generic)
	for op, want := range map[string]Class{
		"add.u32":              {Unit: UnitInteger, Role: RoleNone},
		"add.f32":              {Unit: UnitFloat, Role: RoleNone},
		"fma.rn.f16x2":         {Unit: UnitHalf, Role: RoleNone},
		"max.bf16x2":           {Unit: UnitHalf, Role: RoleNone},
		"fma.rn.f64":           {Unit: UnitDouble, Role: RoleNone},
		"setp.lt.f32":          {Unit: UnitInteger, Role: RoleNone},
		"ex2.approx.ftz.f32":   {Unit: UnitExp, Role: RoleNone},
		"div.rn.f32":           {Unit: UnitFloat, Role: RoleNone},
		"div.s32":              {Unit: UnitInteger, Role: RoleNone},
		"rcp.rn.f64":           {Unit: UnitDouble, Role: RoleNone},
		"cvt.rn.f16x2.f32":     {Unit: UnitConvert, Role: RoleNone},
		"mov.b32":              {Unit: UnitNone, Role: RoleNone},
		"ld.param.u64":         {Unit: UnitNone, Role: RoleLoad, Reads: spaces(ptx.Param)},
		"ld.global.v4.u32":     {Unit: UnitLoadStore, Role: RoleLoad, Reads: global},
		"ld.u32":               {Unit: UnitLoadStore, Role: RoleLoad, Reads: generic},
		"st.shared.u32":        {Unit: UnitLoadStore, Role: RoleStore, Writes: shared},
		"atom.global.add.u32":  {Unit: UnitLoadStore, Role: RoleAtomic, Reads: global, Writes: global},
		"red.shared.add.u32":   {Unit: UnitLoadStore, Role: RoleReduction, Reads: shared, Writes: shared},
		"fence.acq_rel.gpu":    {Unit: UnitLoadStore, Role: RoleFence},
		"bar.sync":             {Unit: UnitBarrier, Role: RoleBarrier, Waits: true},
		"bar.arrive":           {Unit: UnitBarrier, Role: RoleBarrier},
		"barrier.cluster.wait": {Unit: UnitBarrier, Role: RoleBarrier, Waits: true},
		"mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32":                           {Unit: UnitTensor, Role: RoleNone},
		"wmma.store.d.sync.aligned.row.m16n16k16.global.f32":                          {Unit: UnitLoadStore, Role: RoleStore, Writes: global},
		"wgmma.mma_async.sync.aligned.m64n64k16.f32.f16.f16":                          {Unit: UnitWGMMA, Role: RoleAsyncLoad, Reads: shared},
		"wgmma.wait_group.sync.aligned":                                               {Unit: UnitWGMMA, Role: RoleWait},
		"cp.async.cg.shared.global":                                                   {Unit: UnitAsyncCopy, Role: RoleAsyncLoad, Reads: global, Writes: shared},
		"cp.async.wait_all":                                                           {Unit: UnitAsyncCopy, Role: RoleWait},
		"cp.async.bulk.global.shared::cta.bulk_group":                                 {Unit: UnitBulkCopy, Role: RoleAsyncStore, Reads: shared, Writes: global},
		"mbarrier.try_wait.parity.shared::cta.b64":                                    {Unit: UnitBarrier, Role: RoleBarrier, Waits: true, Reads: shared, Writes: shared},
		"mbarrier.arrive.shared::cta.b64":                                             {Unit: UnitBarrier, Role: RoleBarrier, Reads: shared, Writes: shared},
		"cp.async.bulk.tensor.2d.shared::cluster.global.mbarrier::complete_tx::bytes": {Unit: UnitBulkCopy, Role: RoleAsyncLoad, Reads: global, Writes: shared},
		"cp.reduce.async.bulk.tensor.2d.global.shared::cta.add.bulk_group":            {Unit: UnitBulkCopy, Role: RoleAsyncReduction, Reads: global | shared, Writes: global},
		"frobnicate.u32": {},
	} {
		if got := ClassOf(ptx.NewOpcode(op)); got != want {
			t.Errorf("%s: %v %v waits %v reads %b writes %b, want %v %v %v %b %b", op, got.Unit, got.Role, got.Waits, got.Reads, got.Writes,
				want.Unit, want.Role, want.Waits, want.Reads, want.Writes)
		}
	}
}
