package verify

import (
	"strings"

	"github.com/GOATnote-Inc/attest/ptx"
	"github.com/GOATnote-Inc/attest/ptx/isa"
)

// MinTarget returns the least version and architecture that a module needs, and the
// instruction that decides: the one that needs the highest target, or else the highest
// version. The instruction is nil if a directive decides, or if any target is enough.
func MinTarget(m *ptx.Module) (isa.Needs, *ptx.Inst) {
	oldest := ptx.Target{SM: oldestSM}
	low := lowest{needs: isa.Needs{Target: oldest, Version: oldest.MinVersion()}}
	for _, f := range m.Funcs() {
		low.function(f)
	}
	for _, it := range m.Items {
		if f, ok := it.(*ptx.Func); ok {
			for _, d := range f.Directives {
				low.raise(directiveNeeds[d.Name], nil)
			}
		}
	}
	if v := low.needs.Target.MinVersion(); low.needs.Version.Less(v) {
		low.needs.Version = v
	}
	return low.needs, low.by
}

// oldestSM is the oldest architecture that assemblers in use still know.
const oldestSM = 50

// lowest collects needs.
type lowest struct {
	needs isa.Needs
	by    *ptx.Inst
}

func (l *lowest) function(f *ptx.Func) {
	d := newDecoder()
	for _, s := range f.Body {
		in, ok := s.(*ptx.Inst)
		if !ok {
			continue
		}
		var out decoded
		d.resolve(in, &out)
		l.raise(out.needs(), in)
	}
}

// raise adds n to the needs. A higher target counts more than a higher version.
func (l *lowest) raise(n isa.Needs, by *ptx.Inst) {
	if higher(n.Target, l.needs.Target) {
		l.needs.Target, l.by = n.Target, by
	}
	if l.needs.Version.Less(n.Version) {
		if l.needs.Target.SM == oldestSM {
			l.by = by
		}
		l.needs.Version = n.Version
	}
}

// higher reports whether a needs more than b.
func higher(a, b ptx.Target) bool {
	return a.SM > b.SM || a.SM == b.SM && a.Feature != 0 && b.Feature == 0
}

// needs returns what the instruction and the special registers in it need.
func (d *decoded) needs() isa.Needs {
	n := d.specials()
	if d.match.Form != nil {
		n = n.Join(d.match.Needs())
	}
	return n
}

// specials returns what the special registers in the instruction need.
func (d *decoded) specials() (n isa.Needs) {
	for i := range d.in.Args {
		if o := &d.in.Args[i]; o.Kind == ptx.SpecialOperand {
			n = n.Join(specialNeeds(o.Sym.Name))
		}
	}
	return n
}

func needs(sm, major, minor int) isa.Needs {
	return isa.Needs{Version: ptx.Version{Major: major, Minor: minor}, Target: ptx.Target{SM: sm}}
}

// specialNeeds is what special registers need, if it is more than the oldest target and
// version in use.
func specialNeeds(name string) isa.Needs {
	switch {
	case strings.Contains(name, "cluster"):
		return needs(90, 7, 8)
	case name == "%aggr_smem_size":
		return needs(90, 8, 1)
	case strings.HasPrefix(name, "%reserved_smem"):
		return needs(80, 7, 6)
	case name == "%current_graph_exec":
		return needs(50, 8, 0)
	}
	return isa.Needs{}
}

// directiveNeeds is what directives of functions need.
var directiveNeeds = map[string]isa.Needs{
	".reqnctapercluster": needs(90, 7, 8),
	".explicitcluster":   needs(90, 7, 8),
	".maxclusterrank":    needs(90, 7, 8),
	".noreturn":          needs(30, 6, 4),
	".blocksareclusters": needs(90, 9, 0),
}

// header checks that the version of the module knows its target. The targets before sm_20 have
// another arithmetic: they flush subnormals without .ftz, and no assembler in use knows them.
func (k *checker) header() {
	if k.m.Target.SM < 20 {
		k.errorf(-1, ptx.Pos{}, "retired-target", ".target %s is retired; write sm_20 or a later one", k.m.Target)
		return
	}
	if v := k.m.Target.MinVersion(); k.m.Version.Less(v) {
		k.errorf(-1, ptx.Pos{}, "version-too-low", ".target %s needs .version %s; the module says %s", k.m.Target, v, k.m.Version)
	}
}

// targets reports instructions and directives that need more than the module's header
// says, each form of an opcode once per function.
func (k *checker) targets(c *code) {
	for _, d := range k.fn.Directives {
		k.covered(-1, d.Pos, d.Name, directiveNeeds[d.Name])
	}
	type spelling struct {
		op   *ptx.Opcode
		form *isa.Form
	}
	judged := map[spelling]bool{}
	for i := range c.at {
		d := &c.at[i]
		if d.in == nil {
			continue
		}
		k.covered(i, d.in.Pos, d.in.Op.Text, d.specials())
		s := spelling{d.in.Op, d.match.Form}
		if s.form == nil || judged[s] {
			continue
		}
		judged[s] = true
		if !d.match.RunsOn(k.m.Version, k.m.Target) {
			k.covered(i, d.in.Pos, d.in.Op.Text, d.match.Needs())
		}
		k.retired(i, d.in)
	}
}

// retired reports warp instructions without .sync. For sm_70 and later, PTX has removed them from
// version 6.4 on, and assemblers refuse vote in older versions too. A module for an older
// architecture gets a warning, because a driver assembles it for the GPU that is there.
func (k *checker) retired(stmt int, in *ptx.Inst) {
	if in.Op.Name != "shfl" && in.Op.Name != "vote" || in.Op.Has("sync") {
		return
	}
	since, old := "", k.m.Version.Less(ptx.Version{Major: 6, Minor: 4})
	if in.Op.Name == "shfl" {
		since = " from .version 6.4 on"
	}
	switch {
	case k.m.Target.SM >= 70 && (in.Op.Name == "vote" || !old):
		k.errorf(stmt, in.Pos, "retired-instruction", "%s does not exist for sm_70 and later%s: write %s.sync with a member mask", in.Op.Text, since, in.Op.Name)
	case k.m.Target.SM < 70 && !old:
		k.warnf(stmt, in.Pos, "retired-instruction", "%s does not assemble for sm_70 and later: write %s.sync with a member mask", in.Op.Text, in.Op.Name)
	}
}

// covered reports an error if the module's header does not meet a need.
func (k *checker) covered(stmt int, pos ptx.Pos, what string, n isa.Needs) {
	m := k.m
	kind := "target-too-low"
	if m.Target.Runs(n.Target) {
		if !m.Version.Less(n.Version) {
			return
		}
		kind = "version-too-low"
	}
	wants := ".target " + n.Target.String() + " and .version " + n.Version.String()
	switch {
	case n.Target.SM == 0:
		wants = ".version " + n.Version.String()
	case n.Version == (ptx.Version{}):
		wants = ".target " + n.Target.String()
	}
	k.errorf(stmt, pos, kind, "%s needs %s; the module says %s, %s", what, wants, m.Target, m.Version)
}
