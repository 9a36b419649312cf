package verify

import (
	"math"

	"github.com/GOATnote-Inc/attest/finding"
	"github.com/GOATnote-Inc/attest/ptx"
)

// The limits of a kernel.
const (
	maxStaticShared = 48 << 10 // beyond it, shared memory must be dynamic
	maxParams       = 4096
	maxParamsVolta  = 32764 // from sm_70 with PTX 8.1
	maxThreads      = 1024
	maxRegisters    = 255
	portableCluster = 8
	largestCluster  = 16
	maxShared       = 227 << 10 // static and dynamic, on any target
	maxLocal        = 512 << 10 // the most local memory of a thread
	maxAlign        = 1 << 20
)

// limits checks what an entry asks of a launch.
func (k *checker) limits(c *code) {
	f := k.fn
	if n := k.sharedStatic(f); n > maxStaticShared {
		k.errorf(-1, f.Pos, "shared-too-large", "%s has %d bytes of static shared memory; the limit is %d: use dynamic shared memory (.extern .shared) for more",
			f.Sym.Name, n, maxStaticShared)
	}
	k.parameters()
	k.launchBounds()
	k.setmaxnreg(c)
}

// variables reports variables of the module that have no size or are too large, and
// vectors among the parameters of functions.
func (k *checker) variables() {
	for _, it := range k.m.Items {
		switch it := it.(type) {
		case *ptx.Var:
			k.storage(-1, it)
			k.sized(-1, it)
		case *ptx.Func:
			for _, v := range it.Params {
				k.paramVector(-1, v)
			}
			for _, v := range it.Returns {
				k.paramVector(-1, v)
			}
		}
	}
}

// storage reports a variable that is larger than its state space, aligned more strictly, or of a
// type that no memory can hold.
func (k *checker) storage(stmt int, v *ptx.Var) {
	switch n := v.Size(); {
	case v.Type == ptx.Pred && v.Space != ptx.Reg:
		k.errorf(stmt, v.Pos, "bad-variable", "%s is .pred, which only a register can hold", v.Sym.Name)
	case n >= ptx.MaxSize:
		k.errorf(stmt, v.Pos, "bad-variable", "%s is larger than the memory of any device", v.Sym.Name)
	case v.Space == ptx.Shared && n > maxShared:
		k.errorf(stmt, v.Pos, "shared-too-large", "%s has %d bytes; a block has at most %d bytes of shared memory", v.Sym.Name, n, maxShared)
	case v.Alignment() > maxAlign:
		k.errorf(stmt, v.Pos, "bad-variable", "%s is aligned to %d bytes; the largest alignment is %d", v.Sym.Name, v.Alignment(), maxAlign)
	}
}

// locals reports variables of a function that are too large, each and together. Parameters of
// functions and of calls lie in the local memory of the thread, too.
func (k *checker) locals() {
	f := k.fn
	var end int64
	place := func(stmt int, v *ptx.Var) {
		k.storage(stmt, v)
		if v.Space == ptx.Local || v.Space == ptx.Param {
			end = align(end, int64(v.Alignment())) + v.Size()
		}
	}
	if !f.Entry {
		for _, v := range f.Params {
			place(-1, v)
		}
		for _, v := range f.Returns {
			place(-1, v)
		}
	}
	for i, s := range f.Body {
		if v, ok := s.(*ptx.Var); ok {
			place(i, v)
			k.sized(i, v)
			k.paramVector(i, v)
		}
	}
	if end > maxLocal {
		k.errorf(-1, f.Pos, "local-too-large", "%s has %d bytes of local variables and parameters of calls; a thread has at most %d", f.Sym.Name, end, maxLocal)
	}
}

// sized reports a variable that has no size.
func (k *checker) sized(stmt int, v *ptx.Var) {
	if unsized(v) && v.Linkage != ptx.Extern && v.Init == nil {
		k.errorf(stmt, v.Pos, "bad-variable", "%s has no size: give it one, an initialiser, or .extern", v.Sym.Name)
	}
}

// paramVector reports a vector in .param memory, which assemblers refuse.
func (k *checker) paramVector(stmt int, v *ptx.Var) {
	if v.Space == ptx.Param && v.Vec > 0 {
		k.errorf(stmt, v.Pos, "bad-variable", "%s is a vector in .param memory, which PTX does not have: declare an array such as .param .align %d .b8 %s[%d]",
			v.Sym.Name, v.Alignment(), v.Sym.Name, v.Size())
	}
}

func (k *checker) parameters() {
	f := k.fn
	var end int64
	for _, p := range f.Params {
		if unsized(p) {
			k.errorf(-1, p.Pos, "bad-variable", "parameter %s of an .entry has no size", p.Sym.Name)
		}
		k.storage(-1, p)
		end = align(end, int64(p.Alignment())) + p.Size()
	}
	large := k.m.Target.SM >= 70 && !k.m.Version.Less(ptx.Version{Major: 8, Minor: 1})
	switch {
	case end > maxParamsVolta:
		k.errorf(-1, f.Pos, "param-too-large", "%s has %d bytes of parameters; the limit is %d", f.Sym.Name, end, maxParamsVolta)
	case end > maxParams && !large:
		k.errorf(-1, f.Pos, "param-too-large", "%s has %d bytes of parameters; the limit is %d, or %d with .target sm_70 and .version 8.1",
			f.Sym.Name, end, maxParams, maxParamsVolta)
	}
}

// launchBounds checks .maxntid, .reqntid, .reqnctapercluster and .maxnreg.
func (k *checker) launchBounds() {
	f := k.fn
	limit, exact := f.Directive(".maxntid"), f.Directive(".reqntid")
	if limit != nil && exact != nil {
		k.bounds(finding.Error, exact, "%s has both .maxntid and .reqntid; keep one", f.Sym.Name)
	}
	if n := product(exact); n > maxThreads {
		k.bounds(finding.Error, exact, ".reqntid asks for %d threads; a block has %d at most", n, maxThreads)
	}
	if n := product(limit); n > maxThreads {
		k.bounds(finding.Warning, limit, ".maxntid allows %d threads; a block has %d at most", n, maxThreads)
	}
	cluster := f.Directive(".reqnctapercluster")
	switch n := product(cluster); {
	case n > largestCluster:
		k.bounds(finding.Error, cluster, ".reqnctapercluster asks for %d blocks; a cluster has %d at most", n, largestCluster)
	case n > portableCluster:
		k.bounds(finding.Warning, cluster, ".reqnctapercluster asks for %d blocks; above %d the launch must allow non-portable sizes", n, portableCluster)
	}
	if d := f.Directive(".maxnreg"); product(d) > maxRegisters {
		k.bounds(finding.Warning, d, ".maxnreg %d is above the %d registers a thread can have", product(d), maxRegisters)
	}
	if d := f.Directive(".minnctapersm"); d != nil && limit == nil && exact == nil {
		k.bounds(finding.Warning, d, ".minnctapersm is ignored without .maxntid or .reqntid")
	}
}

func (k *checker) bounds(s finding.Severity, d *ptx.Directive, format string, args ...any) {
	if s == finding.Error {
		k.errorf(-1, d.Pos, "bad-launch-bounds", format, args...)
		return
	}
	k.warnf(-1, d.Pos, "bad-launch-bounds", format, args...)
}

// product returns the product of a directive's dimensions, or 0 if d is nil. A dimension that
// is negative or has more than 31 bits gives the largest number.
func product(d *ptx.Directive) int64 {
	if d == nil {
		return 0
	}
	n := int64(1)
	for i := range d.Args {
		if d.Args[i].Kind != ptx.ImmOperand {
			continue
		}
		v := d.Args[i].Val
		if v < 0 || v > math.MaxInt32 || n > math.MaxInt32 {
			return math.MaxInt64
		}
		n *= v
	}
	return n
}

// setmaxnreg reports a kernel that moves registers between warps without a fixed number of
// registers at its start: ptxas then ignores the instruction.
func (k *checker) setmaxnreg(c *code) {
	for _, name := range []string{".maxnreg", ".maxntid", ".reqntid"} {
		if k.fn.Directive(name) != nil {
			return
		}
	}
	for i := range c.at {
		if in := c.at[i].in; in != nil && in.Op.Name == "setmaxnreg" {
			k.warnf(i, in.Pos, "setmaxnreg-unbounded", "setmaxnreg has no effect: %s has no .maxnreg, .maxntid or .reqntid to fix its registers", k.fn.Sym.Name)
			return
		}
	}
}
