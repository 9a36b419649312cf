package build

// FullMask names all 32 lanes of a warp.
func (k *Kernel) FullMask() U32 { return k.U32(0xffffffff) }

// SyncThreads is bar.sync 0: the whole block waits for itself.
func (k *Kernel) SyncThreads() { k.BarSync(0) }

// bflyable is a value that lanes can exchange.
type bflyable[T any] interface {
	Value
	ShflSyncBfly(b, c, membermask Int) T
}

// WarpReduce combines the 32 lanes' x with op; every lane gets the result. Five
// butterfly shuffles: partners at distance 16, 8, 4, 2, 1.
func WarpReduce[T bflyable[T]](x T, op func(a, b T) T) T {
	return LaneReduce(x, 32, op)
}

// LaneReduce is WarpReduce among groups of width neighbouring lanes, width a
// power of two: 4 reduces a row of an MMA fragment.
func LaneReduce[T bflyable[T]](x T, width int, op func(a, b T) T) T {
	k := kernelOf(x)
	if width < 1 || width > 32 || width&(width-1) != 0 {
		k.errorf("a reduction runs over 1, 2, 4, 8, 16 or 32 lanes, not %d", width)
		return x
	}
	for d := width / 2; d > 0; d /= 2 {
		x = op(x, x.ShflSyncBfly(d, 31, k.FullMask()))
	}
	return x
}
