package lab

import (
	"encoding/binary"
	"math/bits"

	"github.com/GOATnote-Inc/attest/build"
	"github.com/GOATnote-Inc/attest/device"
	"github.com/GOATnote-Inc/attest/problem"
	"github.com/GOATnote-Inc/attest/ptx"
)

// spoilOp says what the spoiling kernel does with a range of memory.
type spoilOp uint64

// The operations.
const (
	fillRange  spoilOp = iota // add the old content to a digest, then write bytes that change
	zeroRange                 // add the old content to a digest, then write zeros
	copyRange                 // write the content of another range
	renewRange                // write another range with about half of its elements negated
	flipRange                 // negate some elements, and undo the previous pass
)

// spoilRange is a range of memory in the table of the spoiling kernel, which reads it as eight
// numbers of 64 bits.
type spoilRange struct {
	op     spoilOp
	to     uint64 // address, a multiple of 16 unless it is a copyRange
	words  uint64 // size in units of 4 bytes; of a copyRange, which may have any alignment, in bytes
	from   uint64 // copyRange and renewRange: address; fillRange and zeroRange: digestKind
	digest uint64 // fillRange and zeroRange: the set of the digest, or noDigest
	elem   elementBits
	id     uint64 // makes the random numbers of ranges different
}

// digestKind says what a digest of an output depends on. A digest of bits depends on each bit. The
// others are sums of the elements with random signs, in units of 1/digestUnit: similar outputs have
// similar digests.
type digestKind uint64

// The kinds.
const (
	bitDigest digestKind = iota
	f16Digest
	bf16Digest
	f32Digest
)

// digestUnit is the number by which an element is multiplied before it is rounded and added to a
// digest.
const digestUnit = 1 << 16

const (
	noDigest        = 1<<32 - 1
	spoilRangeBytes = 64
	spoilThreads    = 256
	// flips is the number of elements that a pass negates in a range.
	flips = 4
)

// elementBits says which bits negate an element: its sign, or for u8 all bits of the byte, since
// 128 stands for zero. Every result is a number of the format that is not NaN.
type elementBits struct {
	word uint32 // the highest bit of each element of a word
	fill uint32 // the factor that turns this bit, shifted to the lowest bit of its element, into the bits to flip
}

func elementBitsOf(f problem.Format) elementBits {
	switch {
	case f == problem.U8 || f == problem.U8Legacy:
		return elementBits{0x80808080, 0xff}
	case f.Bytes() == 2:
		return elementBits{0x80008000, 0x8000}
	case f.Bytes() == 4:
		return elementBits{1 << 31, 1 << 31}
	}
	return elementBits{0x80808080, 0x80}
}

// size returns the size of an element in bytes.
func (e elementBits) size() int { return 4 / bits.OnesCount32(e.word) }

// mask returns the bits that negate the elements of a word whose highest bits are set in x.
func (e elementBits) mask(x uint32) uint32 { return (x & e.word) >> (8*e.size() - 1) * e.fill }

// encode returns the range as the kernel reads it.
func (r *spoilRange) encode() (out []byte) {
	for _, v := range []uint64{uint64(r.op), r.to, r.words, r.from, r.digest, uint64(r.elem.word), uint64(r.elem.fill), r.id} {
		out = binary.LittleEndian.AppendUint64(out, v)
	}
	return out
}

// spoilState is what changes from run to run, in the memory of the device.
type spoilState struct {
	start uint32 // the number of the first pass of the run
	first uint32 // the number of the first pass of the turn, which has no earlier pass to undo or to digest
	salt  uint32 // the bytes that outputs are filled with depend on it
	turn  uint32 // the inputs depend on it
}

const spoilStateBytes = 16

func (s spoilState) encode() (out []byte) {
	for _, v := range []uint32{s.start, s.first, s.salt, s.turn} {
		out = binary.LittleEndian.AppendUint32(out, v)
	}
	return out
}

const (
	mix1 = 0x85ebca6b
	mix2 = 0xc2b2ae35
	mix3 = 0x9e3779b1
)

// mix is the finaliser of MurmurHash3: each bit of x changes about half of the bits of the result.
func mix(x uint32) uint32 {
	x = (x ^ x>>16) * mix1
	x = (x ^ x>>13) * mix2
	return x ^ x>>16
}

// mixed is mix in a kernel.
func mixed(x build.U32) build.U32 {
	x = x.Xor(x.Shr(16)).MulLo(mix1)
	x = x.Xor(x.Shr(13)).MulLo(mix2)
	return x.Xor(x.Shr(16))
}

// renewal returns the random bits of word i of an input in a turn.
func renewal(id, turn uint32, i int) uint32 { return mix(uint32(i)*mix3 + mix(id*mix1+turn)) }

// flipped returns the element that flip n of a pass negates.
func flipped(id, pass uint32, n, elements int) int {
	h := mix(uint32(n)*mix3 + mix(id*mix2+pass))
	return int(uint64(h) * uint64(elements) >> 32)
}

// spoilKernel returns the kernel that spoils outputs and changes inputs between timed launches.
// chunks blocks work on each range.
func spoilKernel() *build.Kernel {
	k := build.New("spoil", ptx.SM80)
	k.ReqNTid(spoilThreads)
	table, at := build.ParamGlobal[build.U64](k, "table"), k.ParamU32("at")
	state, digests := build.ParamGlobal[build.U32](k, "state"), build.ParamGlobal[build.U32](k, "digests")
	slots, sets := k.ParamU32("slots"), k.ParamU32("sets")
	chunks, pass := k.ParamU32("chunks"), k.ParamU32("pass")
	r := table.At(k.CtaidX().Div(chunks).Add(at).MulLo(spoilRangeBytes / 8))
	s := &spoiling{
		k:  k,
		op: r.Ld().CvtU32(), to: build.GlobalAt[build.U32](r.Plus(1).Ld()), words: r.Plus(2).Ld().CvtU32(),
		from: build.GlobalAt[build.U32](r.Plus(3).Ld()), kind: r.Plus(3).Ld().CvtU32(), digest: r.Plus(4).Ld().CvtU32(),
		word: r.Plus(5).Ld().CvtU32(), fill: r.Plus(6).Ld().CvtU32(), id: r.Plus(7).Ld().CvtU32(),
		first: state.Plus(1).Ld(), salt: state.Plus(2).Ld(), turn: state.Plus(3).Ld(),
		chunk: k.CtaidX().Rem(chunks), chunks: chunks,
	}
	s.pass = state.Ld().Add(pass)
	k.Switch(s.op,
		build.Case(uint32(fillRange), func() {
			seed := mixed(s.id.MulLo(mix1).Add(s.pass)).Xor(s.salt)
			s.overwrite(digests, slots, sets, func(i build.U32) [4]build.U32 {
				h := mixed(i.MulLo(mix3).Add(seed))
				return [4]build.U32{h, h.MulLo(mix1), h.MulLo(mix2), h.MulLo(mix3)}
			})
		}),
		build.Case(uint32(zeroRange), func() {
			s.overwrite(digests, slots, sets, func(build.U32) [4]build.U32 { return [4]build.U32{k.U32(0), k.U32(0), k.U32(0), k.U32(0)} })
		}),
		build.Case(uint32(copyRange), s.copyBytes),
		build.Case(uint32(renewRange), s.renew),
		build.Case(uint32(flipRange), s.flip),
	)
	return k
}

// spoiling is the state of the spoiling kernel.
type spoiling struct {
	k                 *build.Kernel
	to, from          build.Global[build.U32]
	op, words, digest build.U32
	kind              build.U32
	word, fill, id    build.U32
	pass, first       build.U32
	salt, turn        build.U32
	chunk, chunks     build.U32
}

// each calls four for every unit of four words of the range, and one for each of the words that
// remain.
func (s *spoiling) each(four, one func(i build.U32)) {
	thread := s.chunk.MulLo(spoilThreads).Add(s.k.TidX())
	step := s.chunks.MulLo(spoilThreads)
	s.k.Loop(thread, s.words.Shr(2), step, four)
	last := s.words.And(^uint32(3))
	s.k.Loop(last.Add(thread), s.words, step, one)
}

// overwrite adds the outputs of the previous pass to their digest and overwrites them. content
// returns the words that unit i gets; a word that is left over gets the first one of its own number.
func (s *spoiling) overwrite(digests build.Global[build.U32], slots, sets build.U32, content func(i build.U32) [4]build.U32) {
	sum := build.NewVar(s.k.U32(0))
	digest := func(of func(i, old build.U32) build.U32) func() {
		return func() {
			s.each(func(i build.U32) {
				first := i.Shl(2)
				for j, old := range s.to.At(first).LdV4() {
					sum.Set(sum.Get().Add(of(first.Add(j), old)))
				}
				s.to.At(first).StV4(content(i))
			}, func(i build.U32) {
				sum.Set(sum.Get().Add(of(i, s.to.At(i).Ld())))
				s.to.At(i).St(content(i)[0])
			})
		}
	}
	s.k.Switch(s.kind,
		build.Case(uint32(bitDigest), digest(func(i, old build.U32) build.U32 { return mixed(old.Add(mixed(i))) })),
		build.Case(uint32(f16Digest), digest(func(i, old build.U32) build.U32 {
			lo, hi := build.Unpack2[build.F16](build.Cast[build.B32](old))
			return signed(lo.CvtF32(), i.Shl(1)).Add(signed(hi.CvtF32(), i.Shl(1).Add(1)))
		})),
		build.Case(uint32(bf16Digest), digest(func(i, old build.U32) build.U32 {
			lo, hi := build.Cast[build.F32](old.Shl(16)), build.Cast[build.F32](old.And(0xffff0000))
			return signed(lo, i.Shl(1)).Add(signed(hi, i.Shl(1).Add(1)))
		})),
		build.Case(uint32(f32Digest), digest(func(i, old build.U32) build.U32 { return signed(build.Cast[build.F32](old), i) })),
	)
	all := sum.Get().ReduxSyncAdd(s.k.U32(1<<32 - 1))
	slot := s.pass.Sub(s.first).Sub(1).MulLo(sets).Add(s.digest)
	s.k.If(s.k.Laneid().SetpEq(0), func() {
		s.k.If(s.digest.SetpNe(s.k.U32(noDigest)), func() {
			s.k.If(s.pass.SetpNe(s.first), func() {
				s.k.If(slot.SetpLt(slots), func() { digests.At(slot).Red(build.AtomicAdd, all) })
			})
		})
	})
}

// signed returns element i of an output in units of 1/digestUnit, with a random sign.
func signed(x build.F32, i build.U32) build.U32 {
	v := build.Cast[build.U32](x.Mul(float32(digestUnit)).CvtRniS32())
	return v.MulLo(mixed(i).And(2).Sub(1)) // 1 or -1
}

// copyBytes copies the content of another range.
func (s *spoiling) copyBytes() {
	to, from := build.GlobalAt[build.U8](s.to.Addr()), build.GlobalAt[build.U8](s.from.Addr())
	s.k.Loop(s.chunk.MulLo(spoilThreads).Add(s.k.TidX()), s.words, s.chunks.MulLo(spoilThreads), func(i build.U32) {
		to.At(i).St(from.At(i).Ld())
	})
}

// renew copies an input and negates about half of its elements.
func (s *spoiling) renew() {
	seed := mixed(s.id.MulLo(mix1).Add(s.turn))
	one := func(i build.U32) {
		h := mixed(i.MulLo(mix3).Add(seed))
		s.to.At(i).St(s.from.At(i).Ld().Xor(s.negate(h)))
	}
	s.each(func(i build.U32) {
		for j := range 4 {
			one(i.Shl(2).Add(j))
		}
	}, one)
}

// negate returns the bits that negate the elements of a word whose highest bits are set in x.
func (s *spoiling) negate(x build.U32) build.U32 {
	high := s.k.U32(32).Div(s.perWord()).Sub(1)
	return x.And(s.word).Shr(high).MulLo(s.fill)
}

// perWord returns the number of elements in a word.
func (s *spoiling) perWord() build.U32 { return build.Cast[build.B32](s.word).Popc() }

// flip negates some elements and restores those that the previous pass negated.
func (s *spoiling) flip() {
	n := s.k.TidX().Rem(flips)
	undo := s.k.TidX().SetpLt(flips)
	pass := s.pass.Sub(s.k.U32(1).Selp(0, undo))
	perWord := s.perWord()
	s.k.If(s.chunk.SetpEq(0), func() {
		s.k.If(s.k.TidX().SetpLt(2*flips), func() {
			s.k.If(s.k.U32(0).Selp(1, undo).Or(s.pass.Sub(s.first)).SetpNe(0), func() {
				h := mixed(n.MulLo(mix3).Add(mixed(s.id.MulLo(mix2).Add(pass))))
				element := h.MulHi(s.words.MulLo(perWord))
				bit := s.k.U32(32).Div(perWord).MulLo(element.Rem(perWord))
				build.GlobalAt[build.B32](s.to.At(element.Div(perWord)).Addr()).Red(build.AtomicXor, build.Cast[build.B32](s.fill.Shl(bit)))
			})
		})
	})
}

// spoilLaunch returns a launch of the spoiling kernel on some ranges of a table.
func spoilLaunch(ranges, chunks int, params ...device.Param) device.Launch {
	return device.Launch{Grid: device.D(ranges * chunks), Block: device.D(spoilThreads), Params: params}
}

// renewBytes does on the host what renewRange does with an input in a turn.
func renewBytes(data []byte, e elementBits, id, turn uint32) {
	eachPiece(data, func(first int, piece []byte) {
		for i := 0; i+4 <= len(piece); i += 4 {
			w := binary.LittleEndian.Uint32(piece[i:])
			binary.LittleEndian.PutUint32(piece[i:], w^e.mask(renewal(id, turn, (first+i)/4)))
		}
	})
}

// flipBytes does on the host what flipRange does with an input before a pass. A second call
// undoes it.
func flipBytes(data []byte, e elementBits, id, pass uint32) {
	size := e.size()
	for n := range flips {
		at := size * flipped(id, pass, n, len(data)/size)
		for i := range size {
			data[at+i] ^= byte(e.fill >> (8 * i))
		}
	}
}
