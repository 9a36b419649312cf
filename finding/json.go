package finding

import (
	"encoding/json"
	"fmt"
	"math/bits"
)

// Items is a list that JSON shows as [] when it is empty, and never as null.
type Items[T any] []T

// MarshalJSON implements json.Marshaler.
func (l Items[T]) MarshalJSON() ([]byte, error) {
	if l == nil {
		return []byte("[]"), nil
	}
	return json.Marshal([]T(l))
}

// MarshalJSON writes the lanes as a list of numbers in ascending order.
func (m Lanes) MarshalJSON() ([]byte, error) {
	list := make([]int, 0, bits.OnesCount32(uint32(m)))
	for rest := uint32(m); rest != 0; rest &= rest - 1 {
		list = append(list, bits.TrailingZeros32(rest))
	}
	return json.Marshal(list)
}

// UnmarshalJSON reads what MarshalJSON writes.
func (m *Lanes) UnmarshalJSON(data []byte) error {
	var list []int
	if err := json.Unmarshal(data, &list); err != nil {
		return err
	}
	*m = 0
	for _, lane := range list {
		if lane < 0 || lane > 31 {
			return fmt.Errorf("there is no lane %d: a warp has lanes 0 to 31", lane)
		}
		*m |= 1 << lane
	}
	return nil
}
