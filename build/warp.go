package build

// FullMask is the mask of all 32 lanes of a warp.
func (k *Kernel) FullMask() U32 { return k.U32(0xffffffff) }

// SyncThreads is bar.sync 0: all threads of the block wait for each other.
func (k *Kernel) SyncThreads() { k.BarSync(0) }

// bflyable is a value that lanes can exchange.
type bflyable[T any] interface {
	Value
	ShflSyncBfly(b, c, membermask Int) T
}

// WarpReduce combines x of all 32 lanes with op, and every lane gets the result. It takes
// five butterfly shuffles, with partners at distances 16, 8, 4, 2 and 1.
func WarpReduce[T bflyable[T]](x T, op func(a, b T) T) T {
	return LaneReduce(x, 32, op)
}

// LaneReduce is WarpReduce within groups of neighbouring lanes. width, the size of a
// group, is a power of two: 4 reduces a row of an mma fragment.
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
