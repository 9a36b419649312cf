package finding

import (
	"fmt"
	"math/bits"
	"strings"
)

// Lanes is a set of lanes of a warp: bit i stands for lane i.
type Lanes uint32

// Lane returns the set of one lane, or no lanes when lane is negative.
func Lane(lane int) Lanes {
	if lane < 0 {
		return 0
	}
	return 1 << lane
}

// First returns the lowest lane of the set, or -1 when the set is empty.
func (m Lanes) First() int {
	if m == 0 {
		return -1
	}
	return bits.TrailingZeros32(uint32(m))
}

// String writes the set as ranges: "lane 3", "lanes 0-3,8", "lanes 0,2,…,30",
// "all lanes".
func (m Lanes) String() string {
	switch bits.OnesCount32(uint32(m)) {
	case 32:
		return "all lanes"
	case 1:
		return "lane " + m.Numbers()
	}
	return "lanes " + m.Numbers()
}

// Numbers is String without the words: "3", "0-3,8", "all".
func (m Lanes) Numbers() string {
	if m == 1<<32-1 {
		return "all"
	}
	if lo, step := bits.TrailingZeros32(uint32(m)), m.stride(); step > 1 {
		return fmt.Sprintf("%d,%d,…,%d", lo, lo+step, 31-bits.LeadingZeros32(uint32(m)))
	}
	var parts []string
	for rest := uint32(m); rest != 0; {
		lo := bits.TrailingZeros32(rest)
		n := bits.TrailingZeros32(^(rest >> lo))
		rest &^= uint32((uint64(1)<<n - 1) << lo)
		if n == 1 {
			parts = append(parts, fmt.Sprint(lo))
		} else {
			parts = append(parts, fmt.Sprintf("%d-%d", lo, lo+n-1))
		}
	}
	return strings.Join(parts, ",")
}

// stride returns the distance between neighbouring lanes of a set of four or more
// lanes that are evenly spaced, else 0.
func (m Lanes) stride() int {
	if bits.OnesCount32(uint32(m)) < 4 {
		return 0
	}
	lo := bits.TrailingZeros32(uint32(m))
	step := bits.TrailingZeros32(uint32(m) >> lo &^ 1) // from the first lane to the second
	even := Lanes(0)
	for l := lo; l <= 31-bits.LeadingZeros32(uint32(m)); l += step {
		even |= 1 << l
	}
	if even != m {
		return 0
	}
	return step
}
