package emu_test

import (
	"crypto/sha256"
	"encoding/binary"
	"math/big"
	"math/bits"
	"slices"
)

// nvccInputs holds the inputs of the kernels in testdata/nvcc.
type nvccInputs struct {
	words, others []uint32 // random bits; others also contains small numbers
	a, b          []uint32 // sorted
	gauss         []float32
	small         []float64 // integers
}

// nvccReferences compute the expected results of kernels. The keys are the names of the
// expected files.
var nvccReferences = map[string]func(nvccInputs) []byte{
	"block_sum.bin":      refBlockSum,
	"grid_sum.bin":       refGridSum,
	"scan_inclusive.bin": refScanInclusive,
	"scan_exclusive.bin": refScanExclusive,
	"votes.bin":          refVotes,

	"bitonic.bin":          func(in nvccInputs) []byte { return bytesOf(slices.Sorted(slices.Values(in.words))...) },
	"radix_keys.bin":       func(in nvccInputs) []byte { keys, _ := refRadix(in); return keys },
	"radix_from.bin":       func(in nvccInputs) []byte { _, from := refRadix(in); return from },
	"histogram_shared.bin": refHistogramShared,
	"histogram_global.bin": refHistogramGlobal,
	"most.bin":             func(in nvccInputs) []byte { return bytesOf(uint32(slices.Max(signed(in.words)))) },
	"least.bin":            func(in nvccInputs) []byte { return bytesOf(uint32(slices.Min(signed(in.words)))) },
	"compact.bin": func(in nvccInputs) []byte {
		return bytesOf(append(refOdd(in), make([]uint32, 1024-len(refOdd(in)))...)...)
	},
	"compact_count.bin": func(in nvccInputs) []byte { return bytesOf(uint32(len(refOdd(in)))) },
	"merge.bin":         func(in nvccInputs) []byte { return bytesOf(slices.Sorted(slices.Values(slices.Concat(in.a, in.b)))...) },

	"divide64.bin": refDivide64,
	"divide32.bin": refDivide32,
	"bits.bin":     refBits,
	"packed.bin":   refPacked,
	"wide.bin":     refWide,
	"sha256.bin":   refSHA256,

	"shapes.bin":      refShapes,
	"pointers.bin":    refPointers,
	"recursion.bin":   refRecursion,
	"structures.bin":  refStructures,
	"locals.bin":      refLocals,
	"constants.bin":   refConstants,
	"interpreter.bin": refInterpreter,

	"transpose.bin":     refTranspose,
	"life.bin":          refLife,
	"philox.bin":        refPhilox,
	"collatz.bin":       refCollatz,
	"edit_distance.bin": refEditDistance,

	"naive.bin":           refNaive,
	"wmma_bytes.bin":      refWmmaBytes,
	"wgmma_halves.bin":    refWgmma(64, func(n, k int) int { return n*64 + k }, func(_, _ int) float64 { return 0 }, 1),
	"wgmma_plain.bin":     refWgmma(16, func(n, k int) int { return k*32 + n }, wgmmaFirst, -1),
	"wgmma_registers.bin": refWgmma(16, func(n, k int) int { return n*16 + k }, func(_, _ int) float64 { return 0 }, 1),
	"wgmma_bytes.bin":     refWgmmaBytes,

	"diffusion.bin":         refDiffusion,
	"work_queue.bin":        refWorkQueue,
	"spin_lock.bin":         func(nvccInputs) []byte { return bytes64(4 * 3 * 16 * (1 + 2 + 3 + 4)) },
	"naive_lock.bin":        func(nvccInputs) []byte { return bytesOf(2 * 31 * 32 / 2) },
	"ticket_lock.bin":       refTickets,
	"chained_scan.bin":      refChainedScan,
	"producer_consumer.bin": refProducerConsumer,
	"lane_chain.bin":        refLaneChain,
	"counting_barriers.bin": refCountingBarriers,
	"atomics32.bin":         refAtomics32,
	"atomics64.bin":         refAtomics64,
	"atomicsf.bin":          refAtomicsFloat,
	"atomicsd.bin":          refAtomicsDouble,

	"staged.bin":            refStaged,
	"partial.bin":           refPartial,
	"arrivals.bin":          refArrivals,
	"ring.bin":              refRing,
	"bulk_out.bin":          refBulkOut,
	"bulk_sums.bin":         refBulkSums,
	"tensor_out.bin":        refTensorOut,
	"tensor_raw.bin":        refTensorRaw(false),
	"tensor_swizzled.bin":   refTensorRaw(true),
	"cluster_sum.bin":       refClusterSum,
	"cluster_histogram.bin": refClusterHistogram,
	"multicast.bin":         refMulticast,
	"remote_stores.bin":     refRemoteStores,
	"odds_and_ends.bin":     refOddsAndEnds,
}

// u32s converts bytes to words, and bytesOf converts words to bytes.
func u32s(data []byte) []uint32 {
	w := make([]uint32, len(data)/4)
	for i := range w {
		w[i] = binary.LittleEndian.Uint32(data[4*i:])
	}
	return w
}

func bytesOf(words ...uint32) []byte {
	var b []byte
	for _, w := range words {
		b = binary.LittleEndian.AppendUint32(b, w)
	}
	return b
}

// wide64 returns pairs of words as 64-bit numbers.
func wide64(words []uint32) []uint64 {
	w := make([]uint64, len(words)/2)
	for i := range w {
		w[i] = uint64(words[2*i+1])<<32 | uint64(words[2*i])
	}
	return w
}

func bytes64(words ...uint64) []byte {
	var b []byte
	for _, w := range words {
		b = binary.LittleEndian.AppendUint64(b, w)
	}
	return b
}

func signed(words []uint32) []int32 {
	s := make([]int32, len(words))
	for i, w := range words {
		s[i] = int32(w)
	}
	return s
}

func refBlockSum(in nvccInputs) []byte {
	sums := make([]uint32, 8)
	for i, v := range in.words {
		sums[i/128%8] += v
	}
	return bytesOf(sums...)
}

func refGridSum(in nvccInputs) []byte {
	var sum uint64
	for _, v := range in.words {
		sum += uint64(v)
	}
	return bytes64(sum)
}

func refScanInclusive(in nvccInputs) []byte {
	out, sum := []uint32(nil), uint32(0)
	for _, v := range in.words[:4000] {
		sum += v
		out = append(out, sum)
	}
	return bytesOf(out...)
}

func refScanExclusive(in nvccInputs) []byte {
	out, sum := []uint32(nil), uint32(0)
	for _, v := range in.words[:1024] {
		out = append(out, sum)
		sum += v
	}
	return bytesOf(out...)
}

// mask returns the lanes of a warp for which f is true.
func mask(warp []uint32, f func(v uint32) bool) (m uint32) {
	for i, v := range warp {
		if f(v) {
			m |= 1 << i
		}
	}
	return m
}

func truth(b bool) uint32 {
	if b {
		return 1
	}
	return 0
}

func refVotes(in nvccInputs) []byte {
	var out []uint32
	for base := 0; base < 64; base += 32 {
		warp := in.words[base : base+32]
		for lane, v := range warp {
			out = append(out, refVote(warp, lane, v)...)
		}
	}
	return bytesOf(out...)
}

func refVote(warp []uint32, lane int, v uint32) []uint32 {
	zero := mask(warp, func(x uint32) bool { return x&0xff == 0 })
	alike := mask(warp, func(x uint32) bool { return x>>31 == warp[0]>>31 })
	o := []uint32{
		mask(warp, func(x uint32) bool { return x&1 != 0 }), truth(zero != 0), truth(zero == 0),
		mask(warp, func(x uint32) bool { return x&3 == v&3 }), 0, 0,
		0, slices.Max(warp), uint32(slices.Min(signed(warp))), 0, ^uint32(0), 0, 0, 0, 0, 0,
	}
	if alike == ^uint32(0) {
		o[4], o[5] = alike, 1
	}
	for _, x := range warp {
		o[6] += x
		o[9] ^= x
		o[10] &= x | 0xffff0
		o[11] |= x & 0xff
		if v&2 != 0 && x&2 != 0 {
			o[12] += x & 0xffff
		}
	}
	if v&2 != 0 {
		o[13] = mask(warp, func(x uint32) bool { return x&2 != 0 && x&12 == v&12 })
	}
	o[14] = warp[lane^5] + warp[lane&^15|(lane+3)&15]
	o[15] = ^uint32(0) + uint32(bits.OnesCount32(mask(warp, func(x uint32) bool { return x%5 == v%5 })))
	return o
}

func refRadix(in nvccInputs) (keys, from []byte) {
	order := make([]uint32, 512)
	for i := range order {
		order[i] = uint32(i)
	}
	slices.SortStableFunc(order, func(a, b uint32) int {
		x, y := int64(int32(in.words[a])), int64(int32(in.words[b]))
		return int(max(min(x-y, 1), -1))
	})
	for _, i := range order {
		keys = append(keys, bytesOf(in.words[i])...)
	}
	return keys, bytesOf(order...)
}

func refHistogramShared(in nvccInputs) []byte {
	bins := make([]uint32, 256)
	for _, b := range bytesOf(in.words...) {
		bins[b]++
	}
	return bytesOf(bins...)
}

func refHistogramGlobal(in nvccInputs) []byte {
	bins := make([]uint64, 64)
	for _, v := range in.words {
		bins[v>>26] += uint64(v)
	}
	return bytes64(bins...)
}

func refOdd(in nvccInputs) (odd []uint32) {
	for _, v := range in.words[:1000] {
		if v&1 != 0 {
			odd = append(odd, v)
		}
	}
	return odd
}

// columns orders results as the kernels do: the first results of all threads, then the second
// results, and so on.
func columns[T uint32 | uint64](n, of int, f func(i int) []T) []T {
	out := make([]T, n*of)
	for i := range n {
		for j, v := range f(i) {
			out[j*n+i] = v
		}
	}
	return out
}

func refDivide64(in nvccInputs) []byte {
	a, b := wide64(in.words), wide64(in.others)
	return bytes64(columns(500, 6, func(i int) []uint64 {
		x, y := a[i], b[i]|1
		sx, sy := int64(x), int64(b[i]>>(i%60))|1
		return []uint64{
			x / y, x % (y>>31 | 1), uint64(sx / sy), uint64(sx % sy),
			x/1000000007 + x%10, uint64(sx/-7) ^ uint64(sx%4096),
		}
	})...)
}

func refDivide32(in nvccInputs) []byte {
	return bytesOf(columns(500, 5, func(i int) []uint32 {
		x, y := in.words[i], in.others[i]>>(i%31)|1
		sx, sy := int32(x), int32(in.others[i])>>(i%30)|1
		return []uint32{
			x / y, x % y, uint32(sx / sy), uint32(sx % sy),
			uint32(uint16(x)/uint16(y)) + uint32(int32(int8(x))/(int32(int8(y))|1)),
		}
	})...)
}

func refWide(in nvccInputs) []byte {
	const n = 100
	a, b := wide64(in.words), wide64(in.others)
	out := make([]uint64, 3*n)
	u := func(v uint64) *big.Int { return new(big.Int).SetUint64(v) }
	all := new(big.Int).Lsh(big.NewInt(1), 128)
	m := u(1<<32 - 5)
	for i := range n {
		p := new(big.Int).Mul(u(a[i]), u(b[i]))
		p.Add(p, u(a[n-1-i])).Mul(p, u(3)).Sub(p, u(b[n-1-i])).Mod(p, all)
		out[2*i] = new(big.Int).And(p, u(1<<64-1)).Uint64()
		out[2*i+1] = new(big.Int).Rsh(p, 64).Uint64()
		out[2*n+i] = new(big.Int).Exp(u(a[i]), u(b[i]), m).Uint64()
	}
	return bytes64(out...)
}

func refSHA256(in nvccInputs) (out []byte) {
	for i := range 64 {
		sum := sha256.Sum256(bytesOf(in.words[8*i : 8*i+8]...))
		out = append(out, sum[:]...)
	}
	return out
}
