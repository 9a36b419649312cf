package ptx

// OperandKind says which fields of an Operand are used.
type OperandKind uint8

// The kinds of operand.
const (
	NoOperand      OperandKind = iota
	RegOperand                 // Sym, Comp, Neg, Val        %r1, v.x, !%p1, %r1+4: the register plus a constant
	SpecialOperand             // Sym                        %tid.x, %clock
	ImmOperand                 // Val                        42, 0x96
	F32Operand                 // Val: the bits              0f3F800000
	F64Operand                 // Val: the bits              0d3FF0000000000000
	SymOperand                 // Sym, Val: an offset        label, function, variable, variable+16
	AddrOperand                // Base or Val, Elems         [%rd1+16], [var], [64], [%rd1, {%r1, %r2}]
	VecOperand                 // Elems                      {%f1, %f2}
	ListOperand                // Elems                      (%r1, %r2): a call's arguments
	PairOperand                // Elems: two                 %p1|%p2, %r1|%p1
	SinkOperand                //                            _
	StringOperand              // Sym.Name                   "unroll 1": only in directives; with flag Word a bare word
	IndexOperand               // Sym, Elems, Val            a[2], a[%r1+2]: the register, if any, is Elems[0]
	FieldOperand               // Sym.Name, Elems[0]         addr_mode_0 = wrap: only in initialisers
)

// Operand is one operand of an instruction, an element of one, or an
// initialiser's value.
type Operand struct {
	Kind OperandKind
	// Neg is a logical "!" in front of a predicate.
	Neg bool
	// Comp is the component of a vector register: 'x', 'y', 'z', 'w', else 0.
	Comp byte
	// Flags record how a constant or an address was written.
	Flags OperandFlags
	Pos   Pos
	// Sym is the symbol that the name refers to. For an address it is the base, or nil
	// if the address is a constant.
	Sym *Symbol
	// Val is the integer, the bits of the float, or the offset.
	Val int64
	// Elems of a vector, list or pair; of an address, the operands after the
	// first comma inside its brackets.
	Elems []Operand
}

// OperandFlags record the spelling where it means something to a reader.
type OperandFlags uint16

// The flags.
const (
	Hex       OperandFlags = 1 << iota // print the integer in hexadecimal
	Unsigned                           // an integer written with a U suffix or too large for s64
	Unified                            // [a].unified
	GenericOf                          // generic(var) in an initialiser
	MaskOf                             // 0xFF00(var) in an initialiser: the mask is Elems[0]
	Word                               // a string written without quotes, which is not a declared name
	Selector                           // %r1.b0, %r1.h10 of the video instructions: Elems[0] is the word
	Minus                              // -%r1 of the video instructions
	PlusZero                           // [%rd1+0]: ptxas may emit an addition for it
)

// SymbolKind is what a name stands for.
type SymbolKind uint8

// The kinds of symbol.
const (
	UndefinedSymbol SymbolKind = iota // a name that is not declared; verify reports it
	RegSymbol
	SpecialSymbol
	VarSymbol
	LabelSymbol
	FuncSymbol
	TargetsSymbol
	ProtoSymbol
)

var symbolKindNames = [...]string{"undefined name", "register", "special register", "variable", "label", "function", "target list", "call prototype"}

func (k SymbolKind) String() string { return symbolKindNames[k] }

// Symbol is what a name refers to. All operands that refer to the same thing share one
// Symbol. The same name in two scopes has two Symbols.
type Symbol struct {
	Name string
	Kind SymbolKind
	Type Type // the type of a register, special register or variable
	Vec  uint8
	ID   int32 // the ID of a register: its index in Func.Regs
	Pos  Pos   // the position of the declaration
	Var  *Var  // for a variable: the variable
	Func *Func // for a function: its last declaration, or its definition if there is one
}

// RegOp is an operand naming a register.
func RegOp(s *Symbol) Operand { return Operand{Kind: RegOperand, Sym: s} }

// SymOp is an operand naming a label, function or variable.
func SymOp(s *Symbol) Operand { return Operand{Kind: SymOperand, Sym: s} }

// ImmOp is an integer constant.
func ImmOp(v int64) Operand { return Operand{Kind: ImmOperand, Val: v} }

// AddrOp is [base+off].
func AddrOp(base *Symbol, off int64) Operand {
	return Operand{Kind: AddrOperand, Sym: base, Val: off}
}

// VecOp is {elems}.
func VecOp(elems ...Operand) Operand { return Operand{Kind: VecOperand, Elems: elems} }

// IsConst reports whether the operand is a constant.
func (o *Operand) IsConst() bool {
	return o.Kind == ImmOperand || o.Kind == F32Operand || o.Kind == F64Operand
}
