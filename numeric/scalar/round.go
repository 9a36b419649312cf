package scalar

// Round is a rounding mode.
type Round uint8

// The rounding modes .rn, .rz, .rm, .rp and .rna. The integer forms, such as .rni, are the
// same modes.
const (
	RN  Round = iota // to nearest, ties to even
	RZ               // towards zero
	RM               // towards minus infinity
	RP               // towards plus infinity
	RNA              // to nearest, ties away from zero
)

// String returns the modifier without the dot.
func (r Round) String() string {
	if r > RNA {
		return "Round(?)"
	}
	return [...]string{"rn", "rz", "rm", "rp", "rna"}[r]
}

// up reports whether a truncated magnitude must be incremented. odd is its last bit, half is
// the first bit that was cut off, and rest reports whether any later bit was set.
func (r Round) up(neg, odd, half, rest bool) bool {
	switch r {
	case RN:
		return half && (rest || odd)
	case RNA:
		return half
	case RM:
		return neg && (half || rest)
	case RP:
		return !neg && (half || rest)
	}
	return false
}

// overflows reports whether a magnitude that is too large becomes infinity. Otherwise it
// becomes the largest finite number.
func (r Round) overflows(neg bool) bool {
	switch r {
	case RZ:
		return false
	case RM:
		return neg
	case RP:
		return !neg
	}
	return true
}
