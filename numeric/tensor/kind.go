package tensor

// Kind is the type of a matrix's elements.
type Kind uint8

// The types of factors and results, named as in PTX.
const (
	F16 Kind = iota
	BF16
	TF32
	E4M3
	E5M2
	F32
	S8
	U8
	S4
	U4
	B1
	kinds
)

var kindInfo = [kinds]struct {
	name   string
	bits   int // size of an element in a register
	minExp int // exponent of the smallest normal number
}{
	F16:  {"f16", 16, -14},
	BF16: {"bf16", 16, -126},
	TF32: {"tf32", 32, -126},
	E4M3: {"e4m3", 8, -6},
	E5M2: {"e5m2", 8, -14},
	F32:  {"f32", 32, -126},
	S8:   {name: "s8", bits: 8},
	U8:   {name: "u8", bits: 8},
	S4:   {name: "s4", bits: 4},
	U4:   {name: "u4", bits: 4},
	B1:   {name: "b1", bits: 1},
}

// String returns the name of the type in PTX.
func (k Kind) String() string {
	if k >= kinds {
		return "Kind(?)"
	}
	return kindInfo[k].name
}

// Bits returns the size of an element in a register, in bits.
func (k Kind) Bits() int { return kindInfo[k].bits }

// Words returns the size of n elements in 32-bit words.
func (k Kind) Words(n int) int { return n * k.Bits() / 32 }

func (k Kind) fp8() bool { return k == E4M3 || k == E5M2 }

// wide reports whether exponents of the type need more than 8 bits.
func (k Kind) wide() bool { return k == BF16 || k == TF32 }

// Arch is a generation of tensor cores.
type Arch uint8

// The generations.
const (
	Ampere Arch = iota // sm_80, sm_86, sm_87
	Ada                // sm_89
	Hopper             // sm_90, sm_90a
)

// String returns the name of the generation.
func (a Arch) String() string {
	if a > Hopper {
		return "Arch(?)"
	}
	return [...]string{"Ampere", "Ada", "Hopper"}[a]
}

// Inst is an instruction that multiplies matrices.
type Inst uint8

// The instructions.
const (
	MMA   Inst = iota // mma.sync
	WMMA              // wmma.mma
	WGMMA             // wgmma.mma_async
)

// String returns the name of the instruction in PTX.
func (i Inst) String() string {
	if i > WGMMA {
		return "Inst(?)"
	}
	return [...]string{"mma", "wmma", "wgmma"}[i]
}
