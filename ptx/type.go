package ptx

// Type is a PTX fundamental, packed or alternate type, without its leading dot.
type Type uint8

// The types, in PTX's own names.
const (
	NoType Type = iota
	B1
	B8
	B16
	B32
	B64
	B128
	U4
	U8
	U16
	U32
	U64
	S4
	S8
	S16
	S32
	S64
	F16
	F16x2
	F32
	F32x2
	F64
	BF16
	BF16x2
	TF32
	E4M3
	E5M2
	E4M3x2
	E5M2x2
	E4M3x4
	E5M2x4
	E2M1
	E2M3
	E3M2
	E2M1x2
	E2M3x2
	E3M2x2
	E2M1x4
	E2M3x4
	E3M2x4
	UE4M3
	UE8M0
	UE8M0x2
	U16x2
	S16x2
	Pred
	TexRef
	SamplerRef
	SurfRef
	numTypes
)

// Class is how the bits of a type are read.
type Class uint8

// The classes a type falls in. Bits types agree with any type of their size.
const (
	ClassNone Class = iota
	ClassBits
	ClassUnsigned
	ClassSigned
	ClassFloat
	ClassPacked // alternate and packed types, which are held in bits registers
	ClassPred
	ClassOpaque
)

type typeInfo struct {
	name  string
	bits  int
	class Class
}

var typeInfos = [numTypes]typeInfo{
	NoType:     {"", 0, ClassNone},
	B1:         {"b1", 1, ClassBits},
	B8:         {"b8", 8, ClassBits},
	B16:        {"b16", 16, ClassBits},
	B32:        {"b32", 32, ClassBits},
	B64:        {"b64", 64, ClassBits},
	B128:       {"b128", 128, ClassBits},
	U4:         {"u4", 4, ClassUnsigned},
	U8:         {"u8", 8, ClassUnsigned},
	U16:        {"u16", 16, ClassUnsigned},
	U32:        {"u32", 32, ClassUnsigned},
	U64:        {"u64", 64, ClassUnsigned},
	S4:         {"s4", 4, ClassSigned},
	S8:         {"s8", 8, ClassSigned},
	S16:        {"s16", 16, ClassSigned},
	S32:        {"s32", 32, ClassSigned},
	S64:        {"s64", 64, ClassSigned},
	F16:        {"f16", 16, ClassFloat},
	F16x2:      {"f16x2", 32, ClassPacked},
	F32:        {"f32", 32, ClassFloat},
	F32x2:      {"f32x2", 64, ClassPacked},
	F64:        {"f64", 64, ClassFloat},
	BF16:       {"bf16", 16, ClassPacked},
	BF16x2:     {"bf16x2", 32, ClassPacked},
	TF32:       {"tf32", 32, ClassPacked},
	E4M3:       {"e4m3", 8, ClassPacked},
	E5M2:       {"e5m2", 8, ClassPacked},
	E4M3x2:     {"e4m3x2", 16, ClassPacked},
	E5M2x2:     {"e5m2x2", 16, ClassPacked},
	E4M3x4:     {"e4m3x4", 32, ClassPacked},
	E5M2x4:     {"e5m2x4", 32, ClassPacked},
	E2M1:       {"e2m1", 4, ClassPacked},
	E2M3:       {"e2m3", 6, ClassPacked},
	E3M2:       {"e3m2", 6, ClassPacked},
	E2M1x2:     {"e2m1x2", 8, ClassPacked},
	E2M3x2:     {"e2m3x2", 16, ClassPacked},
	E3M2x2:     {"e3m2x2", 16, ClassPacked},
	E2M1x4:     {"e2m1x4", 16, ClassPacked},
	E2M3x4:     {"e2m3x4", 32, ClassPacked},
	E3M2x4:     {"e3m2x4", 32, ClassPacked},
	UE4M3:      {"ue4m3", 8, ClassPacked},
	UE8M0:      {"ue8m0", 8, ClassPacked},
	UE8M0x2:    {"ue8m0x2", 16, ClassPacked},
	U16x2:      {"u16x2", 32, ClassPacked},
	S16x2:      {"s16x2", 32, ClassPacked},
	Pred:       {"pred", 1, ClassPred},
	TexRef:     {"texref", 64, ClassOpaque},
	SamplerRef: {"samplerref", 64, ClassOpaque},
	SurfRef:    {"surfref", 64, ClassOpaque},
}

var typeNames = func() map[string]Type {
	m := make(map[string]Type, numTypes)
	for t := B1; t < numTypes; t++ {
		m[typeInfos[t].name] = t
	}
	return m
}()

// ParseType returns the type with the given name ("u32", no dot), or NoType.
func ParseType(name string) Type { return typeNames[name] }

// String is the type's PTX name without the dot.
func (t Type) String() string { return typeInfos[t].name }

// Bits returns the size of a value of the type in bits. A predicate has one bit.
func (t Type) Bits() int { return typeInfos[t].bits }

// Bytes returns the size of a value of the type in memory.
func (t Type) Bytes() int { return (typeInfos[t].bits + 7) / 8 }

// Class says how the bits of the type are read.
func (t Type) Class() Class { return typeInfos[t].class }

// Integer reports whether t is a signed or unsigned integer type.
func (t Type) Integer() bool {
	c := t.Class()
	return c == ClassUnsigned || c == ClassSigned
}

// Space is a PTX state space.
type Space uint8

// The state spaces. Generic stands for an access that names none.
const (
	Generic Space = iota
	Reg
	Sreg
	Const
	Global
	Local
	Param
	Shared
	Tex
	numSpaces
)

var spaceNames = [numSpaces]string{"generic", "reg", "sreg", "const", "global", "local", "param", "shared", "tex"}

// String is the space's PTX name without the dot.
func (s Space) String() string { return spaceNames[s] }

// ParseSpace returns the space that a modifier such as "shared" or "shared::cluster" names,
// or Generic.
func ParseSpace(name string) Space {
	for i, r := range name {
		if r == ':' {
			name = name[:i]
			break
		}
	}
	for s := Reg; s < numSpaces; s++ {
		if spaceNames[s] == name {
			return s
		}
	}
	return Generic
}
