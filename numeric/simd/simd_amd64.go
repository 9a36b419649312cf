package simd

// Has says whether this processor can run the loops.
var Has = detect()

func detect() bool

// Run8 multiplies as many rows as are ordinary, whose exponents have 8-bit lanes.
func (s *Sweep) Run8() { sweep8(s) }

// Run16 is Run8 for exponents in 16-bit lanes.
func (s *Sweep) Run16() { sweep16(s) }

// RunHalf8 is Run8 for an f16 result, which it leaves to be rounded: C is f32 as
// before, D is float64, and rows have one block.
func (s *Sweep) RunHalf8() { half8(s) }

//go:noescape
func half8(s *Sweep)

//go:noescape
func sweep8(s *Sweep)

//go:noescape
func sweep16(s *Sweep)

// Rows8 and Rows16 survey a first factor, Cols8 and Cols16 a second one, with
// exponents in lanes of 8 or 16 bits.

func (s *Survey) Rows8()  { rows8(s) }
func (s *Survey) Rows16() { rows16(s) }
func (s *Survey) Cols8()  { cols8(s) }
func (s *Survey) Cols16() { cols16(s) }

//go:noescape
func rows8(s *Survey)

//go:noescape
func rows16(s *Survey)

//go:noescape
func cols8(s *Survey)

//go:noescape
func cols16(s *Survey)
