package difffuzz

import (
	"flag"
	"strings"
	"testing"

	"github.com/GOATnote-Inc/attest/ptx"
	"github.com/GOATnote-Inc/attest/ptx/isa"
	"github.com/GOATnote-Inc/attest/ptx/parse"
)

// notGenerated lists the forms that kernels never contain: a piece of the form's syntax, and
// the reason.
var notGenerated = []struct{ syntax, why string }{
	{"a:atype~", "video instructions: no GPU has them, and their selectors are no operands of the generator"},
	{"mma.variant.", "the generator makes no metadata; TestCardSparse of device/cuda compares sparse products"},
	{"wgmma.mma_async.sp.", "the generator makes no metadata; TestCardSparse of device/cuda compares sparse products"},
	{"multimem.", "needs multicast memory, which several devices share"},
	{"bulk.tensor", "a tensor map is made by a device and is no part of a text; devicetest has them"},
	{"fence.proxy.tensormap::generic.acquire", "for tensor maps in memory"},
	{"prefetch.tensor", "for tensor maps"},
	{"prefetch{.ss}.tensormap", "for tensor maps"},
	{"tensormap.", "for tensor maps"},
	{"tex.", "a launch cannot describe textures"},
	{"tld4.", "a launch cannot describe textures"},
	{"txq.", "a launch cannot describe textures"},
	{"istypep.", "a launch cannot describe textures"},
	{"suld.", "a launch cannot describe surfaces"},
	{"sust.", "a launch cannot describe surfaces"},
	{"sured.", "a launch cannot describe surfaces"},
	{"suq.", "a launch cannot describe surfaces"},
	{"shfl.mode", "only below sm_70"},
	{"vote.mode", "only below sm_70"},
	{"vote.ballot", "only below sm_70"},
	{"activemask", "which lanes run together is the scheduler's choice"},
	{"setmaxnreg", "changes no value; wants a register budget that ptxas knows"},
	{"trap", "ends the launch"},
	{"brkpt", "stops for a debugger"},
	{"exit", "threads that leave early make barriers undefined"},
	{"discard", "what memory then holds is undefined"},
	{"createpolicy.cvt", "takes a value of the CUDA API"},
	{"pmevent.mask", "does what pmevent does"},
	{"cp.async.bulk.prefetch", "changes no value"},
	{".shared::cluster.b64 _", "arrivals at another block's barrier; devicetest has clusters"},
	{"mbarrier.arrive_drop.noComplete", "does what arrive.noComplete and arrive_drop do, which are there"},
	{"mbarrier.arrive_drop{.sem}{.scope}{.ss}.b64 =state, [addr], count", "does what arrive with a count does"},
	{"set.cmp{.ftz}.f16.", "D21"},
	{"set.cmp.f16.", "D21"},
	{"set.cmp.bool{.ftz}.f16.", "D21"},
	{"set.cmp.bool.f16.", "D21"},
	{"set.cmp.bf16.", "D21"},
	{"set.cmp.bool.bf16.", "D21"},
	{"mbarrier.arrive_drop.expect_tx", "does what arrive.expect_tx and arrive_drop do, which are there"},
}

var coverageSeeds = flag.Uint64("coverage", 800, "how many seeds TestCoverage looks at")

// has reports whether a version and a target have any variant of the form.
func has(f *isa.Form, v ptx.Version, t ptx.Target) bool {
	for m := range f.Variants() {
		if m.RunsOn(v, t) {
			return true
		}
	}
	return false
}

// TestCoverage generates kernels until they contain every form of the table that is not in
// notGenerated. A form that is generated must not be in that list.
func TestCoverage(t *testing.T) {
	if testing.Short() {
		t.Skip("generates thousands of kernels")
	}
	seen := map[*isa.Form]bool{}
	o := Options{Target: ptx.SM90a, Version: ptx.Version{Major: 9}, Size: 60}
	for seed := range *coverageSeeds {
		k := generate(1000+seed, o)
		m, err := parse.Parse("fuzz.ptx", Text([]*Kernel{k}, []string{"k"}))
		if err != nil {
			t.Fatal(err)
		}
		for _, f := range m.Funcs() {
			for _, s := range f.Body {
				if in, ok := s.(*ptx.Inst); ok {
					match, err := isa.Resolve(in)
					if err != nil {
						t.Fatalf("seed %d: %v", 1000+seed, err)
					}
					seen[match.Form] = true
				}
			}
		}
	}
	used := map[string]bool{}
	for _, fam := range isa.Families {
		for _, f := range fam.Forms {
			reason := allowed(f)
			used[reason] = used[reason] || reason != ""
			switch {
			case seen[f] && reason != "":
				t.Errorf("%s is generated: remove it from notGenerated", f.Syntax)
			case !seen[f] && reason == "" && has(f, o.Version, o.Target):
				t.Errorf("%s is never generated", f.Syntax)
			}
		}
	}
	for _, n := range notGenerated {
		if !used[n.syntax] {
			t.Errorf("the table has no form with %q: remove it from notGenerated", n.syntax)
		}
	}
}

// allowed returns the entry of notGenerated that matches the form, or "".
func allowed(f *isa.Form) string {
	for _, n := range notGenerated {
		if strings.Contains(f.Syntax, n.syntax) {
			return n.syntax
		}
	}
	return ""
}
