package simd

// Has says whether this processor can run the loops.
var Has = detect()

func detect() bool

// Run8 multiplies as many rows as are ordinary, whose exponents have 8-bit lanes.
func (s *Sweep) Run8() { sweep8(s) }

// Run16 is Run8 for exponents in 16-bit lanes.
func (s *Sweep) Run16() { sweep16(s) }

//go:noescape
func sweep8(s *Sweep)

//go:noescape
func sweep16(s *Sweep)
