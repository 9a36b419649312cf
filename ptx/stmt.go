package ptx

import "strings"

// Stmt is a statement of a function's body: *Inst, *Label, *RegDecl, *Var,
// *ScopeOpen, *ScopeClose, *Loc, *Directive, *Targets, *Proto or *Comment.
type Stmt interface{ stmt() }

// Inst is one instruction.
type Inst struct {
	Pos   Pos
	Guard Guard
	Op    *Opcode
	Args  []Operand // destination first, as written
}

// Guard is the predicate in front of an instruction: "@p" or "@!p". A nil Sym
// means the instruction always runs.
type Guard struct {
	Sym *Symbol
	Neg bool
}

// Opcode is an instruction's name with its modifiers. A parser shares one value
// among all instructions spelled alike.
type Opcode struct {
	Text string   // "ld.global.nc.v4.f32"
	Name string   // "ld"
	Mods []string // "global", "nc", "v4", "f32"
}

// NewOpcode splits the text of an opcode at its dots.
func NewOpcode(text string) *Opcode {
	parts := strings.Split(text, ".")
	return &Opcode{Text: text, Name: parts[0], Mods: parts[1:]}
}

// Has reports whether the opcode carries the modifier (no dot).
func (o *Opcode) Has(mod string) bool {
	for _, m := range o.Mods {
		if m == mod {
			return true
		}
	}
	return false
}

// Label is a branch target.
type Label struct {
	Pos Pos
	Sym *Symbol
}

// RegDecl declares registers: ".reg .b32 %r<10>, %x;".
type RegDecl struct {
	Pos   Pos
	Type  Type
	Vec   int // 2 or 4 for vector registers, else 0
	Names []RegName
}

// RegName is one name of a RegDecl. A Count above zero declares Prefix0 to
// Prefix(Count-1), otherwise Prefix is the whole name.
type RegName struct {
	Prefix string
	Count  int
}

// ScopeOpen and ScopeClose are braces inside a body. They limit the scope of the names
// declared between them, and have no other effect.
type (
	ScopeOpen  struct{ Pos Pos }
	ScopeClose struct{ Pos Pos }
)

// Loc is a .loc directive: the instructions after it come from this source line.
type Loc struct {
	Pos             Pos
	File, Line, Col int
	// Func and FuncOff name the inlined function as label+offset into .debug_str;
	// At is the call site it was inlined at. Both are nil otherwise.
	Func    *Symbol
	FuncOff int64
	At      *SrcPos
}

// SrcPos is a place in a source file numbered by .file.
type SrcPos struct{ File, Line, Col int }

// Targets is a list of labels or functions under a name, for brx.idx and
// indirect calls: ".branchtargets", ".calltargets".
type Targets struct {
	Pos  Pos
	Sym  *Symbol
	Kind string // ".branchtargets" or ".calltargets"
	List []Operand
}

// Proto is a .callprototype: the signature of an indirect call.
type Proto struct {
	Pos     Pos
	Sym     *Symbol
	Returns []*Var
	Params  []*Var
	// Directives such as .noreturn.
	Directives []*Directive
}

func (*Inst) stmt()       {}
func (*Label) stmt()      {}
func (*RegDecl) stmt()    {}
func (*Var) stmt()        {}
func (*ScopeOpen) stmt()  {}
func (*ScopeClose) stmt() {}
func (*Loc) stmt()        {}
func (*Directive) stmt()  {}
func (*Targets) stmt()    {}
func (*Proto) stmt()      {}
func (*Comment) stmt()    {}
