package simd

// Has reports whether this processor can run the loops.
var Has = detect()

// HasWide reports whether this processor can run the loops for AVX-512, too.
var HasWide = Has && detectWide()

// HasTwins reports whether this processor can run the loops on two rows at a time.
var HasTwins = Has

func detect() bool

func detectWide() bool

// Wide8, Wide16 and WideHalf8 are Run8, Run16 and RunHalf8 with AVX-512. Rows must be a multiple
// of two, and Length of eight. They leave more of the rows whose results may not be normal numbers.

func (s *Sweep) Wide8()     { wide8(s) }
func (s *Sweep) Wide16()    { wide16(s) }
func (s *Sweep) WideHalf8() { wideHalf8(s) }

//go:noescape
func wide8(s *Sweep)

//go:noescape
func wide16(s *Sweep)

//go:noescape
func wideHalf8(s *Sweep)

// Twin8, Twin16 and TwinHalf8 are Run8, Run16 and RunHalf8 on two rows at a time. Rows must be a multiple
// of two. They leave the same rows as the loops for AVX-512. Twin8 has another loop for blocks of 16
// elements, the length for f16 on Hopper, which needs no loop inside.

func (s *Sweep) Twin8() {
	if s.Length == 16 {
		twin8by16(s)
		return
	}
	twin8(s)
}
func (s *Sweep) Twin16()    { twin16(s) }
func (s *Sweep) TwinHalf8() { twinHalf8(s) }

//go:noescape
func twin8(s *Sweep)

//go:noescape
func twin8by16(s *Sweep)

//go:noescape
func twin16(s *Sweep)

//go:noescape
func twinHalf8(s *Sweep)
