package parse

// slab allocates values in larger blocks, because a module has many instructions that are
// all freed at the same time.
type slab[T any] struct{ free []T }

const slabSize = 512

// one returns a zero value.
func (s *slab[T]) one() *T {
	if len(s.free) == 0 {
		s.free = make([]T, slabSize)
	}
	v := &s.free[0]
	s.free = s.free[1:]
	return v
}

// copyOf returns a copy of vs that cannot grow into its neighbours.
func (s *slab[T]) copyOf(vs []T) []T {
	n := len(vs)
	if n == 0 {
		return nil
	}
	if n > len(s.free) {
		if n > slabSize/4 {
			return append(make([]T, 0, n), vs...)
		}
		s.free = make([]T, slabSize)
	}
	c := s.free[:n:n]
	s.free = s.free[n:]
	copy(c, vs)
	return c
}
