package ptx

// Pos is a place in a PTX text. Lines and columns count from 1. The zero Pos is no place:
// a statement that was built in Go has it.
type Pos struct {
	Line int32 `json:"ptx_line"`   // from 1
	Col  int32 `json:"ptx_column"` // the column in bytes, from 1
}

// IsValid reports whether the position names a place.
func (p Pos) IsValid() bool { return p.Line > 0 }

// Module is one PTX translation unit.
type Module struct {
	File        string // name of the text, for error messages
	Version     Version
	Target      Target
	Options     []string // the words after the architecture in .target: "debug", "texmode_independent"
	AddressSize int      // 32 or 64; 0 if the text has no .address_size
	Items       []Item   // everything after the header, in the order of the text
}

// Item is a top-level part of a module: *Func, *Var, *File, *Section, *Directive, *Alias or
// *Comment.
type Item interface{ item() }

// Funcs returns the functions of the module that have a body, in order.
func (m *Module) Funcs() []*Func {
	var fs []*Func
	for _, it := range m.Items {
		if f, ok := it.(*Func); ok && f.HasBody {
			fs = append(fs, f)
		}
	}
	return fs
}

// Func finds a function with a body by name, or returns nil.
func (m *Module) Func(name string) *Func {
	for _, f := range m.Funcs() {
		if f.Sym.Name == name {
			return f
		}
	}
	return nil
}

// Vars returns the variables of the module's scope, in order.
func (m *Module) Vars() []*Var {
	var vs []*Var
	for _, it := range m.Items {
		if v, ok := it.(*Var); ok {
			vs = append(vs, v)
		}
	}
	return vs
}

// FileName returns the path that a .file directive gives to the index, or "".
func (m *Module) FileName(index int) string {
	for _, it := range m.Items {
		if f, ok := it.(*File); ok && f.Index == index {
			return f.Name
		}
	}
	return ""
}

// Linkage is how a symbol is seen from other modules.
type Linkage uint8

// The linking directives.
const (
	Internal Linkage = iota
	Extern
	Visible
	Weak
	Common
	Hidden // only for parameters
)

var linkageNames = [...]string{"", ".extern", ".visible", ".weak", ".common", ".hidden"}

func (l Linkage) String() string { return linkageNames[l] }

// Func is an .entry (kernel) or a .func (device function).
type Func struct {
	Pos        Pos
	Sym        *Symbol
	Linkage    Linkage
	Entry      bool
	Params     []*Var
	Returns    []*Var       // .func only
	Directives []*Directive // .maxntid, .minnctapersm, .noreturn …
	HasBody    bool         // false for a declaration
	Body       []Stmt
	Regs       []*Symbol // the registers named in the body; Regs[i].ID == i
}

// Directive returns the performance-tuning directive of that name (with its
// dot), or nil.
func (f *Func) Directive(name string) *Directive {
	for _, d := range f.Directives {
		if d.Name == name {
			return d
		}
	}
	return nil
}

// Var is a variable or parameter declaration.
type Var struct {
	Pos     Pos
	Sym     *Symbol
	Linkage Linkage
	Space   Space
	Align   int // 0 for the natural alignment
	Vec     int // 2 or 4 for a vector, else 0
	Type    Type
	// Dims are the array's dimensions. If the first is Unsized, the initialiser or the
	// launch (.extern .shared) gives the size.
	Dims []int64
	// Init is the initialiser: one operand, or a Vec of them, nested by dimension.
	Init *Operand
	// Ptr is set on a kernel parameter that is a pointer with known properties.
	Ptr *PtrInfo
	// Attributes as in ".attribute(.managed)".
	Attributes []string
}

// Unsized is the length of a dimension written "[]".
const Unsized = -1

// MaxSize is the largest size of a variable that [Var.Size] returns. It is more than any device
// has, and sums of such sizes do not overflow.
const MaxSize = 1 << 40

// Size returns the number of bytes of the variable, or 0 if it has no size of its own. A
// variable that is larger than MaxSize has MaxSize bytes.
func (v *Var) Size() int64 {
	n := int64(v.Type.Bytes())
	if v.Vec > 0 {
		n *= int64(v.Vec)
	}
	for i, d := range v.Dims {
		if d == Unsized {
			d = 0
			if i == 0 && v.Init != nil && v.Init.Kind == VecOperand {
				d = int64(len(v.Init.Elems))
			}
		}
		if d > MaxSize/max(n, 1) {
			n = MaxSize // a later dimension may still be 0
			continue
		}
		n *= d
	}
	return n
}

// Alignment returns the variable's declared or natural alignment in bytes.
func (v *Var) Alignment() int {
	if v.Align > 0 {
		return v.Align
	}
	n := max(v.Type.Bytes(), 1)
	if v.Vec > 0 {
		n *= v.Vec
	}
	return n
}

// PtrInfo holds the properties of a pointer parameter, as in ".ptr .global .align 16".
type PtrInfo struct {
	Space Space // Generic when not given
	Align int
}

// Directive is a directive with plain arguments: .maxntid, .pragma, and every other
// directive that has no type of its own in this package.
type Directive struct {
	Pos  Pos
	Name string // the name with its dot
	Args []Operand
	Semi bool // written with a semicolon; .pragma always has one
}

// File is a .file directive, which numbers a source file for .loc.
type File struct {
	Pos   Pos
	Index int
	Name  string
	// Time and Size are the optional timestamp and length. HasTime is set if they are given.
	Time, Size uint64
	HasTime    bool
}

// Section is a DWARF .section, kept as its lines of text.
type Section struct {
	Pos   Pos
	Name  string
	Lines []string
}

// Alias is ".alias name, target;".
type Alias struct {
	Pos          Pos
	Name, Target *Symbol
}

// Comment is a // or /* */ comment with its markers.
type Comment struct {
	Pos  Pos
	Text string
	// Trailing is set when the comment follows a statement on the same line.
	Trailing bool
}

func (*Func) item()      {}
func (*Var) item()       {}
func (*File) item()      {}
func (*Section) item()   {}
func (*Alias) item()     {}
func (*Directive) item() {}
func (*Comment) item()   {}
