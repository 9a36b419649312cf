package emu_test

import (
	"encoding/binary"
	"math"
	"slices"
)

// References of kernels whose threads wait for each other, and of asynchronous copies. The
// results do not depend on the order of threads.

func refDiffusion(in nvccInputs) []byte {
	a, b := slices.Clone(in.words), make([]uint32, len(in.words))
	n := len(a)
	for range 5 {
		for i := range a {
			b[i] = a[(i+n-1)%n] + 2*a[i] + a[(i+1)%n]
		}
		a, b = b, a
	}
	return bytesOf(a...)
}

func refWorkQueue(in nvccInputs) []byte {
	out := slices.Clone(in.words)
	for i := range out {
		for range i / 64 % 7 {
			out[i] = out[i]*1664525 + 1013904223
		}
	}
	return bytesOf(out...)
}

func refTickets(nvccInputs) []byte {
	v := uint32(0)
	for range 12 {
		v = v*3 + 1
	}
	return bytesOf(v)
}

func refChainedScan(in nvccInputs) []byte {
	out, sum := []uint32(nil), uint32(0)
	for _, v := range in.words {
		sum += v
		out = append(out, sum)
	}
	return bytesOf(out...)
}

func refProducerConsumer(in nvccInputs) []byte {
	var out []uint32
	for t := 32; t < 128; t++ {
		sum := uint32(t / 32)
		for r := range 9 {
			sum = sum*5 + in.words[32*r+(t%32+t/32)%32]
		}
		out = append(out, sum)
	}
	return bytesOf(out...)
}

func refLaneChain(nvccInputs) []byte {
	out := []uint32{1}
	for t := uint32(1); t < 32; t++ {
		out = append(out, out[t-1]*3+t)
	}
	return bytesOf(out...)
}

func refCountingBarriers(in nvccInputs) []byte {
	odd, three, four := uint32(0), uint32(0), uint32(1)
	for _, v := range in.words[:128] {
		odd += v & 1
		if v == 3 {
			three = 1
		}
		if v == 4 {
			four = 0
		}
	}
	return bytesOf(slices.Repeat([]uint32{odd | three<<16 | four<<17}, 128)...)
}

func refAtomics32(in nvccInputs) []byte {
	a := make([]uint32, 9)
	for _, v := range in.words[:1024] {
		a[0] += v
		a[1] -= v
		a[2] &= v | 0xff
		a[3] |= v & 0xff00
		a[4] ^= v
		a[6] = max(a[6], v)
		a[7] = (a[7] + 1) % 101
		a[8] = (a[8] + 77) % 78
	}
	return bytesOf(a...)
}

func refAtomics64(in nvccInputs) []byte {
	a := make([]uint64, 3)
	for _, v := range in.words[:1024] {
		a[0] = max(a[0], uint64(v)<<20)
		a[1] ^= uint64(v) * uint64(v)
		a[2] = uint64(min(int64(a[2]), int64(int32(v))))
	}
	return bytes64(a...)
}

func refAtomicsFloat(in nvccInputs) []byte {
	var sum, most float32
	for _, v := range in.words[:1024] {
		sum += float32(v % 64)
		most = max(most, float32(v>>8))
	}
	return bytesOf(math.Float32bits(sum), math.Float32bits(most))
}

func refAtomicsDouble(in nvccInputs) []byte {
	sum := 0.0
	for _, v := range in.words[:1024] {
		sum += float64(v%1024) / 8
	}
	return bytes64(math.Float64bits(sum))
}

func refStaged(in nvccInputs) []byte {
	out := make([]uint32, 128)
	for i := range 9 {
		tile := in.words[128*i : 128*i+128]
		for t := range out {
			out[t] = out[t]*7 + tile[t] + tile[127-t]
		}
	}
	return bytesOf(out...)
}

// refPartial computes copies that are partly filled with zeros, next to words that no copy
// writes.
func refPartial(in nvccInputs) (out []byte) {
	data := bytesOf(in.words...)
	for t := range 32 {
		row := slices.Repeat([]byte{0xff}, 32)
		copy(row, data[4*t:4*t+4])
		clear(row[8:])
		copy(row[8:16], data[8*t:8*t+t%9])
		copy(row[16:], data[16*t:16*t+t%17])
		out = append(out, row...)
	}
	return out
}

func refArrivals(in nvccInputs) []byte {
	out := make([]uint32, 64)
	for r := range 6 {
		for t := range out {
			out[t] = out[t]*3 + in.words[64*r+63-t]
		}
	}
	return bytesOf(out...)
}

func refRing(in nvccInputs) []byte {
	out := make([]uint32, 96)
	for i := range 23 {
		for t := range out {
			out[t] = out[t]*9 + in.words[96*i+95-t]
		}
	}
	return bytesOf(out...)
}

func refBulkOut(in nvccInputs) []byte {
	var out []uint32
	for b := range 4 {
		part := slices.Clone(in.words[256*b : 256*b+256])
		slices.Reverse(part)
		out = append(out, part...)
	}
	return bytesOf(out...)
}

func refBulkSums(in nvccInputs) []byte {
	sums := make([]uint32, 256)
	for i, v := range in.words[:1024] {
		sums[255-i%256] += v
	}
	return bytesOf(sums...)
}

// The tensor has 20 rows of 50 words with a pitch of 52 words.
const tensorWidth, tensorHeight, tensorPitch = 50, 20, 52

// tensorTiles calls f with every word of the tiles that the blocks copy.
func tensorTiles(f func(block, x, y, col, row int)) {
	for block := range 6 {
		for i := range 256 {
			f(block, block%2*32+4+i%32, block/2*8+i/32, i%32, i/32)
		}
	}
}

func inTensor(x, y int) bool { return x >= 0 && x < tensorWidth && y >= 0 && y < tensorHeight }

func refTensorOut(in nvccInputs) []byte {
	out := make([]uint32, 4160/4)
	tensorTiles(func(_, x, y, _, _ int) {
		if x >= tensorWidth && x < tensorPitch && inTensor(0, y) {
			out[y*tensorPitch+x] = 1 // the fill plus 1: all of the last 16 bytes of a row are written
		}
		if inTensor(x, y) {
			out[y*tensorPitch+x] = in.words[y*tensorPitch+x] + 1
		}
	})
	return bytesOf(out...)
}

// refTensorRaw returns the tiles in the layout of shared memory. If they are swizzled, the
// low bits of the row number permute the 16-byte units of a row.
func refTensorRaw(swizzled bool) func(nvccInputs) []byte {
	return func(in nvccInputs) []byte {
		out := make([]uint32, 6*256)
		tensorTiles(func(block, x, y, col, row int) {
			if swizzled {
				col ^= row % 8 * 4
			}
			if inTensor(x, y) {
				out[256*block+32*row+col] = in.words[y*tensorPitch+x]
			}
		})
		return bytesOf(out...)
	}
}

func refClusterSum(in nvccInputs) []byte {
	var out []uint32
	for b := range 8 {
		rank, first := b%4, b/4*4
		from := (rank + 3) % 4 // the block that writes to this block
		sum := uint32(0)
		for r := range 4 {
			part := uint32(0)
			for _, v := range in.words[128*(first+(from+r)%4):][:128] {
				part += v
			}
			sum = sum*3 + part
		}
		for t := range 128 {
			out = append(out, sum+uint32(t)+uint32(rank)*1000000)
		}
	}
	return bytesOf(out...)
}

func refClusterHistogram(in nvccInputs) []byte {
	bins := make([]uint32, 256)
	for _, b := range bytesOf(in.words...)[:16000] {
		bins[b]++
	}
	return bytesOf(bins...)
}

func refMulticast(in nvccInputs) []byte {
	out := make([]uint32, 256)
	for i := range out {
		out[i] = uint32(i / 128)
		for r := range 7 {
			tile := in.words[128*r : 128*r+128]
			out[i] = out[i]*5 + tile[i%128] + tile[127-i%128]
		}
	}
	return bytesOf(out...)
}

func refRemoteStores(in nvccInputs) []byte {
	out := make([]uint32, 256)
	for i := range out {
		out[i/64*64+63-i%64] = in.words[i^64]
	}
	return bytesOf(out...)
}

// refOddsAndEnds computes the result of stmatrix.trans. The rows of matrix j start at the
// addresses of the lanes from 8j on. Lane t holds two elements of one row, which become part
// of a column.
func refOddsAndEnds(in nvccInputs) []byte {
	s := make([]byte, 512)
	for t, v := range in.words[:32] {
		for j, w := range []uint32{v, v + 1, v ^ 0xffff, in.words[t+32]} {
			row, col := t/4, t%4*2
			for e := range 2 {
				binary.LittleEndian.PutUint16(s[16*(8*j+col+e)+2*row:], uint16(w>>(16*e)))
			}
		}
	}
	out := u32s(s)
	for i := range 4 {
		out[i]++ // lane 0 is elected
	}
	return bytesOf(out...)
}
