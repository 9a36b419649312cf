package parse

// slab allocates values in larger blocks, because a module has many instructions that are
// all freed at the same time. The first block is small, because many modules are.
type slab[T any] struct {
	free []T
	size int // the size of the last block
}

const (
	leastSlab = 32
	mostSlab  = 512
)

// grow makes a new block.
func (s *slab[T]) grow() {
	s.size = min(max(2*s.size, leastSlab), mostSlab)
	s.free = make([]T, s.size)
}

// one returns a zero value.
func (s *slab[T]) one() *T {
	if len(s.free) == 0 {
		s.grow()
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
		if n > mostSlab/4 {
			return append(make([]T, 0, n), vs...)
		}
		for n > len(s.free) {
			s.grow()
		}
	}
	c := s.free[:n:n]
	s.free = s.free[n:]
	copy(c, vs)
	return c
}
