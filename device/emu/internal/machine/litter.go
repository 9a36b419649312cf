package machine

// litter fills the declared registers of a new frame with arbitrary bits, as on a GPU, where registers hold what an earlier
// warp has left. A kernel whose result depends on a register that it does not write is then wrong. A launch without a
// Moment begins with zeros.
func (f *Frame) litter() {
	for i, r := range f.fn.Decl.Regs {
		slot := f.fn.Regs[i]
		for range max(int(r.Vec), 1) * max(r.Type.Bits()/64, 1) {
			switch bits := r.Type.Bits(); WidthOf(r.Type) {
			case wPred:
				f.Pred[slot] = uint32(litter64[i%litters][0])
			case W32:
				if bits == 32 {
					f.R32[slot] = litter32[i%litters]
					break
				}
				for lane, x := range &litter32[i%litters] {
					f.R32[slot][lane] = x & (1<<bits - 1)
				}
			default:
				f.R64[slot] = litter64[i%litters]
			}
			slot++
		}
	}
}

// litters is the number of different registers that litter makes.
const litters = 8

var litter32, litter64 = func() (a [litters]Lanes32, b [litters]Lanes64) {
	for i := range a {
		for lane := range a[i] {
			x := arbitrary(i, lane)
			a[i][lane], b[i][lane] = uint32(x>>32), x
		}
	}
	return a, b
}()

// arbitrary returns 64 bits that depend on two numbers.
func arbitrary(a, b int) uint64 {
	x := uint64(a)*0x9e3779b97f4a7c15 + uint64(b)*0xbf58476d1ce4e5b9 + 0x94d049bb133111eb
	x ^= x >> 31
	x *= 0xd6e8feb86659fd93
	return x ^ x>>32
}

// litterLocal fills fresh local memory of a lane, which begins at an address, with arbitrary bytes.
func litterLocal(fresh []byte, from, lane int) {
	for i := range fresh {
		fresh[i] = byte(arbitrary(from+i, lane))
	}
}
