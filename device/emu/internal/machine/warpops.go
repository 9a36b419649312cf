package machine

import "math/bits"

// SetAll sets the result of the lanes m to v.
func (x *Exchange) SetAll(m, v uint32) {
	for ; m != 0; m &= m - 1 {
		x.D[bits.TrailingZeros32(m)] = v
	}
}

// SetGroup records that the lanes m have the same value. The groups are written later, by
// WriteGroups, because the destination may be the register that is compared.
func (x *Exchange) SetGroup(m uint32) {
	for rest := m; rest != 0; rest &= rest - 1 {
		x.groups[bits.TrailingZeros32(rest)] = m
	}
}

// WriteGroups writes the mask of its group to each lane of m.
func (x *Exchange) WriteGroups(m uint32) { MoveLanes(x.D, &x.groups, m) }
