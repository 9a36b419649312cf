package machine

import "math/bits"

// Give gives the lanes m the same result.
func (x *Exchange) Give(m, v uint32) {
	for ; m != 0; m &= m - 1 {
		x.D[bits.TrailingZeros32(m)] = v
	}
}

// Groups records that the lanes m have the same value. Deliver writes each lane's group,
// because the destination may be the register that is compared.
func (x *Exchange) Groups(m uint32) {
	for rest := m; rest != 0; rest &= rest - 1 {
		x.found[bits.TrailingZeros32(rest)] = m
	}
}

func (x *Exchange) Deliver(m uint32) { MoveLanes(x.D, &x.found, m) }
