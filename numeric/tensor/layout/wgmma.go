package layout

// WGMMA returns the fragments of wgmma in registers, for 128 lanes: a, the first factor if it
// is not in shared memory, and d, the accumulator. Each warp holds 16 rows with the fragments
// of mma.sync. bits is the size of an element of a.
func WGMMA(s Shape, bits int) (a, d Fragment) {
	warpA, _, _ := MMA(Shape{16, 8, s.K}, bits)
	a = Fragment{64, s.K, 128, 64 * s.K / 128, 1, warps(warpA.At)}
	d = Fragment{64, s.N, 128, 64 * s.N / 128, 1, warps(accumulator)}
	return a, d
}

// warps stacks the fragments of the four warps of a warpgroup.
func warps(warp Map) Map {
	return func(lane, i int) Pos {
		p := warp(lane&31, i)
		p.Row += lane >> 5 * 16
		return p
	}
}
