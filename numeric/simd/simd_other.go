//go:build !amd64 && !arm64

package simd

// Has reports whether this processor can run the loops.
const Has = false

// The loops are never called, because Has is false.

func (s *Sweep) Run8()     { absent() }
func (s *Sweep) Run16()    { absent() }
func (s *Sweep) RunHalf8() { absent() }
func (s *Narrow) Run()     { absent() }

func (s *Survey) Rows8()  { absent() }
func (s *Survey) Rows16() { absent() }
func (s *Survey) Cols8()  { absent() }
func (s *Survey) Cols16() { absent() }

func AddF32(d, a, b *[32]uint32)    { absent() }
func MulF32(d, a, b *[32]uint32)    { absent() }
func FmaF32(d, a, b, c *[32]uint32) { absent() }

func AddF32Daz(d, a, b *[32]uint32) uint32    { absent(); return 0 }
func MulF32Daz(d, a, b *[32]uint32) uint32    { absent(); return 0 }
func FmaF32Daz(d, a, b, c *[32]uint32) uint32 { absent(); return 0 }

func AddF16x2(d, a, b *[32]uint32)     { absent() }
func SubF16x2(d, a, b *[32]uint32)     { absent() }
func MulF16x2(d, a, b *[32]uint32)     { absent() }
func FmaF16x2(d, a, b, c *[32]uint32)  { absent() }
func AddBF16x2(d, a, b *[32]uint32)    { absent() }
func SubBF16x2(d, a, b *[32]uint32)    { absent() }
func MulBF16x2(d, a, b *[32]uint32)    { absent() }
func FmaBF16x2(d, a, b, c *[32]uint32) { absent() }

func Min16x2(d, a, b *[32]uint32, inf uint32)    { absent() }
func Max16x2(d, a, b *[32]uint32, inf uint32)    { absent() }
func Min16x2NaN(d, a, b *[32]uint32, inf uint32) { absent() }
func Max16x2NaN(d, a, b *[32]uint32, inf uint32) { absent() }

func Dots(d, rows, cols *uint32, count, pairs int) { absent() }

func Interleave(rows *uint32, step int, even, odd *[32]uint32)   { absent() }
func Deinterleave(even, odd *[32]uint32, rows *uint32, step int) { absent() }

func Spread(rows *uint32, step int, lanes *[32]uint32) { absent() }

func Ex2(d, a *[32]uint32, table *uint32, mode uint32) uint32    { absent(); return 0 }
func Rcp(d, a *[32]uint32, table *uint32, mode uint32) uint32    { absent(); return 0 }
func Sqrt(d, a *[32]uint32, table *uint32, mode uint32) uint32   { absent(); return 0 }
func Rsqrt(d, a *[32]uint32, table *uint32, mode uint32) uint32  { absent(); return 0 }
func Lg2(d, a *[32]uint32, table *uint32, mode uint32) uint32    { absent(); return 0 }
func SinCos(d, a *[32]uint32, table *uint32, mode uint32) uint32 { absent(); return 0 }
func Tanh(d, a *[32]uint32, table *uint32, mode uint32) uint32   { absent(); return 0 }

func WidenF16(to, c *uint32, step, rows int)             { absent() }
func RoundF16(d *uint32, step int, x *float64, rows int) { absent() }
