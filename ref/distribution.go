package ref

import (
	"math"

	"github.com/GOATnote-Inc/attest/fp8"
	"github.com/GOATnote-Inc/attest/problem"
)

// The numbers of the random streams. Each tensor has one stream of its own, and all
// tensors share one.
const (
	tensorQ = iota
	tensorK
	tensorV
	sharedByAll
	outlierPlaces // plus the number of the tensor: where its outliers are
)

// maker generates the rows of one tensor.
type maker struct {
	shape  problem.Shape
	dims   fp8.Dims
	seed   uint64
	tensor int
	own    stream // only this tensor uses it
	shared stream // the same for Q, K and V
}

func newMaker(seed uint64, s problem.Shape, tensor int) *maker {
	dims := [...]fp8.Dims{tensorQ: s.Q(), tensorK: s.K(), tensorV: s.V()}[tensor]
	return &maker{shape: s, dims: dims, seed: seed, tensor: tensor, own: newStream(seed, tensor), shared: newStream(seed, sharedByAll)}
}

// headKV returns the head of K and V that the row at p belongs to.
func (m *maker) headKV(p place) int {
	if m.tensor == tensorQ {
		return m.shape.HeadKV(p.h)
	}
	return p.h
}

// place identifies a row by batch, head and position in the sequence.
type place struct{ b, h, s int }

// rowFunc fills a row. The result depends only on the arguments, so rows may be
// generated in any order.
type rowFunc func(m *maker, p place, row []float32)

// first returns the index in the tensor of the first element of a row.
func (m *maker) first(p place) uint64 {
	return uint64(m.dims.Row(p.b, p.h, p.s)) * uint64(m.dims.D)
}

func normal(m *maker, p place, row []float32) { m.own.normals(m.first(p), row) }

func uniform(m *maker, p place, row []float32) {
	for i := range row {
		row[i] = float32(m.own.uniform(m.first(p) + uint64(i)))
	}
}

func zeros(*maker, place, []float32) {}

// sparse makes normal rows of which about a third is zero.
func sparse(m *maker, p place, row []float32) {
	if m.own.at(m.first(p))%3 != 0 {
		normal(m, p, row)
	}
}

// times returns a function that makes normal rows and multiplies them by factor.
func times(factor float32) rowFunc {
	return func(m *maker, p place, row []float32) {
		normal(m, p, row)
		for i := range row {
			row[i] *= factor
		}
	}
}

var (
	times8 = times(8)
	tiny   = times(1e-7)
)

// outliers makes normal rows in which one element in 512 is 16 times as large.
func outliers(m *maker, p place, row []float32) {
	normal(m, p, row)
	which := newStream(m.seed, outlierPlaces+m.tensor)
	for i := range row {
		if which.at(m.first(p)+uint64(i))%512 == 0 {
			row[i] *= 16
		}
	}
}

// few makes rows of -1, 0 and 1. Products and sums of these are exact.
func few(m *maker, p place, row []float32) {
	for i := range row {
		row[i] = float32(int(m.own.at(m.first(p)+uint64(i))%3) - 1)
	}
}

// period4 repeats the first four rows of few in every head.
func period4(m *maker, p place, row []float32) {
	p.s %= 4
	few(m, p, row)
}

// signs makes rows of 1 and -1.
func signs(m *maker, p place, row []float32) {
	for i := range row {
		row[i] = float32(m.own.sign(m.first(p) + uint64(i)))
	}
}

// halfSigns makes rows of 1/2 and -1/2.
func halfSigns(m *maker, p place, row []float32) {
	signs(m, p, row)
	for i := range row {
		row[i] /= 2
	}
}

// chosen makes a row of Q that is eight times one row of K, so that this row gets
// almost all the weight. Its logit is 8·√D, while the other logits have a standard
// deviation of 8. With D = 64, every other weight is smaller by a factor of e^20 or
// more.
func chosen(m *maker, p place, row []float32) {
	signs(newMaker(m.seed, m.shape, tensorK), place{p.b, m.headKV(p), m.choice(p)}, row)
	for i := range row {
		row[i] *= 8
	}
}

// choice returns the row of K that chosen picks for the row of Q at p.
func (m *maker) choice(p place) int {
	return int(m.shared.at(uint64(m.dims.Row(p.b, p.h, p.s))) % uint64(m.shape.Skv))
}

// constant makes all rows of a head equal.
func constant(m *maker, p place, row []float32) {
	p.s = 0
	normal(m, p, row)
}

// lean makes rows that point mostly in the direction of their head.
func lean(m *maker, p place, row []float32) { m.along(p, row, 1) }

// largeK and largeV are the largest magnitudes of K and V in the inputs of subnormal. With a scale that maps
// them to 448, half of the other numbers are subnormal in e4m3: multiples of 2^-9 below 2^-6. The others are
// below 2^-5. A row that sees no other key
// than the large one has largeV in O, which 16 bits hold well enough.
const (
	largeK = 448 * 64
	largeV = 56
)

// largest is the magnitude in large-scales with which a scale becomes 64.
const largest = 448 * 64

// apart returns a function that makes normal rows with a large number of either sign in one column and 0 in another.
// Where Q has its large number, K has 0, and the other way round.
func apart(large, zero int) rowFunc {
	return func(m *maker, p place, row []float32) {
		normal(m, p, row)
		row[large] = float32(m.own.sign(m.first(p)) * largest)
		row[zero] = 0
	}
}

// subnormalQ makes rows of Q for the keys of subnormalK. Their first element is 2, so the large row of K gets
// a logit of -57344/√D, and no weight.
func subnormalQ(m *maker, p place, row []float32) {
	m.scaled(p, row, 2)
	row[0] = 2
}

// subnormalK makes rows of K with elements from -15/8 to 15/8. One row of each head has -largeK in its first
// column, and with one scale per head the codes of all others in e4m3 are subnormal, 0, -0 or among the
// smallest normal numbers.
func subnormalK(m *maker, p place, row []float32) {
	m.fifteenths(p, row, 1.0/8)
	row[0] = 0
	if p.s == m.unseen(p) {
		row[0] = -largeK
	}
}

// subnormalV makes the same rows, 2^9 times as small, for V. The row without weight has largeV in all columns.
func subnormalV(m *maker, p place, row []float32) {
	m.fifteenths(p, row, 1.0/(1<<12))
	if p.s == m.unseen(p) {
		for i := range row {
			row[i] = largeV
		}
	}
}

// fifteenths fills a row with multiples of a step, from -15 to 15. Zeros have either sign. A decoder may go wrong
// where the subnormal numbers end: in e4m3 at 8 steps.
func (m *maker) fifteenths(p place, row []float32, step float64) {
	for i := range row {
		x := m.own.at(m.first(p) + uint64(i))
		row[i] = float32(math.Copysign(step*float64(x>>1%16), float64(x&1)-0.5))
	}
}

// unseen returns the row of K and V that gets no weight in the inputs of subnormal. It is not the first one,
// which may be the only one that a causal row sees. A single key is seen.
func (m *maker) unseen(p place) int {
	if m.shape.Skv < 2 {
		return -1
	}
	return 1 + int(m.shared.at(uint64(p.b*m.shape.Hkv+p.h))%uint64(m.shape.Skv-1))
}

// rising makes rows whose component along the direction of their head grows from 0 to
// 4 over the sequence.
func rising(m *maker, p place, row []float32) {
	m.along(p, row, 4*float64(p.s)/float64(m.dims.S))
}

// falling makes rows whose component along the direction of their head falls from 4 to
// 0 over the sequence.
func falling(m *maker, p place, row []float32) {
	m.along(p, row, 4*float64(m.dims.S-1-p.s)/float64(m.dims.S))
}

// along fills the row with a quarter of a normal row plus share times the direction of
// the head.
func (m *maker) along(p place, row []float32, share float64) {
	normal(m, p, row)
	for i := range row {
		row[i] = float32(row[i]*0.25) + float32(share*m.direction(p, i, len(row)))
	}
}

// against makes rows of K that point against the direction of their head: elements of 6 and 7, which FP8
// represents exactly at any scale that maps 7 to its largest number.
func against(m *maker, p place, row []float32) {
	for i := range row {
		size := 6 + m.own.at(m.first(p)+uint64(i))&1
		row[i] = float32(-float64(size) * m.direction(p, i, len(row)))
	}
}

// someAlong makes rows of Q that have about 3.5·√D elements along the direction of their head, and 0
// elsewhere. With the keys of against, all logits are near -160. In odd heads half of the rows, chosen at
// random, have the opposite direction and logits near 160: a kernel may treat rows whose logits are all
// negative apart, several rows at a time.
func someAlong(m *maker, p place, row []float32) {
	share := uint64(1024 * 3.5 / math.Sqrt(float64(len(row))))
	size := 7.0
	if p.h%2 == 1 && m.shared.at(uint64(m.dims.Row(p.b, p.h, p.s)))%2 == 0 {
		size = -size
	}
	for i := range row {
		if m.own.at(m.first(p)+uint64(i))%1024 < share {
			row[i] = float32(size * m.direction(p, i, len(row)))
		}
	}
}

// direction returns an element of the direction of a head: 1 or -1. A head of K and the heads of Q that
// use it have the same direction.
func (m *maker) direction(p place, i, d int) float64 {
	return m.shared.sign(uint64(m.headKV(p)*d + i))
}

// levels makes rows of whole numbers from -7 to 7, which FP8 represents exactly at any scale
// that maps 7 to its largest number.
func levels(m *maker, p place, row []float32) {
	for i := range row {
		row[i] = float32(int(m.own.at(m.first(p)+uint64(i))%15) - 7)
	}
}

// groups makes rows of K with one element that is not zero: a random one for the first eight keys of
// a head, the next for the next eight keys, and so on. The logit of a key is then the level that the
// row of Q has for its group, times 64/√D.
func groups(m *maker, p place, row []float32) {
	first := m.own.at(m.first(place{b: p.b, h: p.h})) % uint64(len(row))
	row[(int(first)+p.s/8)%len(row)] = 64
}

// halfSame makes rows of signs. The first halves of all rows of a head are equal.
func halfSame(m *maker, p place, row []float32) {
	signs(m, p, row)
	p.s = 0
	signs(m, p, row[:len(row)/2])
}

// halfAlong makes rows of Q for the keys of halfSame. Half of the rows, chosen at random, use only
// the first halves of the keys, so all their logits are equal: up to √D/4, and mostly negative. A key
// that a kernel should not see and reads as zero then has a larger weight than the others. The other
// rows use only the second halves and have logits from N(0,1).
func halfAlong(m *maker, p place, row []float32) {
	half := len(row) / 2
	choice := m.shared.at(uint64(m.dims.Row(p.b, p.h, p.s)))
	if choice%2 == 0 {
		normal(m, p, row)
		clear(row[:half])
		for i := range row {
			row[i] *= 1.40625 // about √2: only half of the elements count
		}
		return
	}
	factors := [...]float32{-0.5, 0.25, -0.25, -0.5, 0.5, -0.25, -0.5, 0}
	halfSame(newMaker(m.seed, m.shape, tensorK), place{b: p.b, h: m.headKV(p)}, row)
	clear(row[half:])
	for i := range row {
		row[i] *= factors[choice/2%uint64(len(factors))]
	}
}

// magnitude returns the magnitude of a head of K or V: one of 1, 0.59, 0.35 and 0.21, where
// neighbours differ. The pattern does not repeat every four or eight heads, because a kernel
// might use only a few bits of the number of the head.
func (m *maker) magnitude(p place) float64 {
	first := m.shared.at(uint64(m.tensor)) % 4
	return [...]float64{1, 0.59375, 0.34375, 0.203125}[(uint64(p.h+p.h/4)+2*uint64(p.b)+first)%4]
}

func headsOfK(m *maker, p place, row []float32) { m.scaled(p, row, m.magnitude(p)) }

// headsOfQ divides by the magnitude of the head of K, so that the logits stay as they are.
func headsOfQ(m *maker, p place, row []float32) {
	keys := newMaker(m.seed, m.shape, tensorK)
	m.scaled(p, row, 1/keys.magnitude(place{b: p.b, h: m.headKV(p)}))
}

func headsOfV(m *maker, p place, row []float32) { m.scaled(p, row, m.magnitude(p)) }

// Large is by how much Q, K or V is larger than usual in the distributions large-q, large-k and large-v.
const Large = 4096

func larger(m *maker, p place, row []float32)  { m.scaled(p, row, Large) }
func smaller(m *maker, p place, row []float32) { m.scaled(p, row, 1.0/Large) }

// scaled makes a normal row times a factor.
func (m *maker) scaled(p place, row []float32, factor float64) {
	normal(m, p, row)
	for i := range row {
		row[i] = float32(float64(row[i]) * factor)
	}
}

// sinkKey makes rows of K for the rows of Q of sinkQuery. The first key has the weight of a third of all other keys
// together, as the first token of a text often has. With thousands of keys each of the others has a weight below
// 2^-11, and together they have most of it. The logit of the first key is one product: tensor cores truncate sums of
// products of one sign.
func sinkKey(m *maker, p place, row []float32) {
	if p.s > 0 {
		m.scaled(p, row, 0.25)
		row[0] = 0
		return
	}
	row[0] = float32(max(math.Log(float64(m.shape.Skv))-1, 1) * math.Sqrt(float64(len(row))) / sinkQ)
}

// sinkQ is the first number of each row of Q in the inputs of sink.
const sinkQ = 4

func sinkQuery(m *maker, p place, row []float32) {
	normal(m, p, row)
	row[0] = sinkQ
}

// flatKeys makes rows of K for rows of Q that are small too: all logits are near 0. The second half of the keys
// is zero.
func flatKeys(m *maker, p place, row []float32) {
	if p.s < (m.shape.Skv+1)/2 {
		m.scaled(p, row, 1.0/16)
	}
}

func by16(m *maker, p place, row []float32) { m.scaled(p, row, 1.0/16) }

// risingBy16 makes rows of V for the keys of flatKeys. They are small, because a sum of thousands of equal weights in
// float32 has an error of up to 1e-4 of O.
func risingBy16(m *maker, p place, row []float32) {
	rising(m, p, row)
	for i := range row {
		row[i] /= 16
	}
}
