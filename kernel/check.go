package kernel

import (
	"fmt"
	"slices"
	"strings"

	"github.com/GOATnote-Inc/attest/internal/english"
	"github.com/GOATnote-Inc/attest/ptx"
	"github.com/GOATnote-Inc/attest/ptx/parse"
)

// Check returns an error if the parts of a kernel do not fit together: an argument names an
// operand that does not exist, a launch names an entry that the PTX does not have, or the
// number of arguments is not the number of parameters.
func (k *Kernel) Check() error {
	if k.Op == "" {
		return fmt.Errorf("the kernel names no operation")
	}
	seen := map[string]bool{}
	for i := range k.Operands {
		o := &k.Operands[i]
		if seen[o.Name] {
			return fmt.Errorf("two operands are called %q", o.Name)
		}
		seen[o.Name] = true
		if err := o.check(); err != nil {
			return fmt.Errorf("operand %q: %w", o.Name, err)
		}
	}
	if len(k.Launches) == 0 {
		return fmt.Errorf("the kernel has no launch")
	}
	for i := range k.Launches {
		if err := k.Launches[i].check(seen); err != nil {
			return fmt.Errorf("launch %d of %s: %w", i, k.Launches[i].Entry, err)
		}
	}
	return k.checkText()
}

func (o *Operand) check() error {
	switch {
	case o.Name == "":
		return fmt.Errorf("an operand needs a name")
	case typeBytes[o.Type] == 0:
		return fmt.Errorf("type %q is not known: use one of %s", o.Type, strings.Join(sortedKeys(typeBytes), ", "))
	case !slices.Contains([]Role{Input, Output, InOut, Workspace}, o.Role):
		return fmt.Errorf("role %q is not known: use input, output, inout or workspace", o.Role)
	case !slices.Contains([]Init{AsIs, Zero, ZeroOnce}, o.Init):
		return fmt.Errorf("init %q is not known: use zero or zero-once", o.Init)
	case len(o.Strides) != 0 && len(o.Strides) != len(o.Dims):
		return fmt.Errorf("%s for %s: each dimension needs one", english.Count(len(o.Strides), "stride"), english.Count(len(o.Dims), "dimension"))
	case o.Meaning != "" && !slices.Contains(meanings, o.Meaning):
		return fmt.Errorf("meaning %q is not known: use %s", o.Meaning, strings.Join(meanings, ", "))
	}
	return nil
}

func (l *Launch) check(operands map[string]bool) error {
	if len(l.Grid) < 1 || len(l.Grid) > 3 || len(l.Block) < 1 || len(l.Block) > 3 || len(l.Cluster) > 3 {
		return fmt.Errorf("grid, block and cluster have one to three extents")
	}
	for i := range l.Args {
		if err := l.Args[i].check(operands); err != nil {
			return fmt.Errorf("argument %d: %w", i, err)
		}
	}
	return nil
}

func (a *Arg) check(operands map[string]bool) error {
	kinds := 0
	for _, is := range []bool{a.Pointer != "", a.Map != nil, a.Type != ""} {
		if is {
			kinds++
		}
	}
	switch {
	case kinds != 1:
		return fmt.Errorf("give exactly one of pointer, tensormap and a type such as u32")
	case a.Pointer != "" && !operands[a.Pointer]:
		return fmt.Errorf("no operand is called %q", a.Pointer)
	case a.Type != "" && encoders[a.Type] == nil:
		return fmt.Errorf("type %q is not known: use one of %s", a.Type, strings.Join(ValueTypes(), ", "))
	case a.Map == nil:
		return nil
	}
	m := a.Map
	_, known := swizzles[m.Swizzle]
	switch {
	case !operands[m.Operand]:
		return fmt.Errorf("no operand is called %q", m.Operand)
	case mapTypes[m.Type] == ptx.NoType:
		return fmt.Errorf("type %q is not known for a tensor map: use one of %s", m.Type, strings.Join(MapTypes(), ", "))
	case len(m.Dims) < 1 || len(m.Dims) > 5 || len(m.Box) != len(m.Dims):
		return fmt.Errorf("a tensor map has 1 to 5 dimensions and a box with the same number, not %d and %d", len(m.Dims), len(m.Box))
	case len(m.Strides) != 0 && len(m.Strides) != len(m.Dims)-1:
		return fmt.Errorf("%s for %s: all but the innermost have one", english.Count(len(m.Strides), "stride"), english.Count(len(m.Dims), "dimension"))
	case !known:
		return fmt.Errorf("swizzle %q is not known: use 32B, 64B or 128B", m.Swizzle)
	case m.Fill != "" && m.Fill != "zero" && m.Fill != "nan":
		return fmt.Errorf("fill %q is not known: use zero or nan", m.Fill)
	}
	return nil
}

// NoEntry is the error for a launch of an entry that the PTX does not have. Have lists the
// entries of the PTX.
type NoEntry struct{ Entry, Have string }

// MissingEntry returns the error for an entry that a module does not have.
func MissingEntry(m *ptx.Module, entry string) *NoEntry { return &NoEntry{entry, entryNames(m)} }

func (e *NoEntry) Error() string {
	return fmt.Sprintf("the PTX has no entry %q: it has %s", e.Entry, e.Have)
}

// checkText compares the launches with the PTX, if the kernel has it.
func (k *Kernel) checkText() error {
	if k.PTX == "" {
		return nil
	}
	m, err := parse.Parse(k.Name, k.PTX)
	if err != nil {
		return err
	}
	for _, l := range k.Launches {
		f := m.Func(l.Entry)
		switch {
		case f == nil || !f.Entry:
			return MissingEntry(m, l.Entry)
		case len(f.Params) != len(l.Args):
			return fmt.Errorf("%s: %s has %s, the call describes %d", k.Name, l.Entry, english.Count(len(f.Params), "parameter"), len(l.Args))
		}
	}
	return nil
}

func entryNames(m *ptx.Module) string {
	var names []string
	for _, f := range m.Funcs() {
		if f.Entry {
			names = append(names, f.Sym.Name)
		}
	}
	if len(names) == 0 {
		return "no entry at all"
	}
	const most = 50
	if n := len(names) - most; n > 0 {
		names = append(names[:most:most], fmt.Sprintf("%d more", n))
	}
	return strings.Join(names, ", ")
}
