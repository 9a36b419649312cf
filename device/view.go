package device

import "fmt"

// View returns a part of a buffer as a buffer: size bytes from an offset on. Freeing a view does nothing.
// It holds an operand that shares an allocation with others, such as the rows of V that alternate with
// those of K. Copies on a stream need the whole buffer.
func View(of Buffer, offset, size int64) (Buffer, error) {
	if offset < 0 || size < 0 || offset > of.Size()-size {
		return nil, fmt.Errorf("%d bytes from byte %d on of a buffer of %d bytes", size, offset, of.Size())
	}
	return view{of, offset, size}, nil
}

type view struct {
	of           Buffer
	offset, size int64
}

func (v view) Addr() uint64 { return v.of.Addr() + uint64(v.offset) }
func (v view) Size() int64  { return v.size }
func (v view) Free() error  { return nil }

func (v view) Write(offset int64, data []byte) error {
	if err := v.inside(offset, len(data)); err != nil {
		return err
	}
	return v.of.Write(v.offset+offset, data)
}

func (v view) Read(offset int64, data []byte) error {
	if err := v.inside(offset, len(data)); err != nil {
		return err
	}
	return v.of.Read(v.offset+offset, data)
}

func (v view) inside(offset int64, n int) error {
	if offset < 0 || offset > v.size-int64(n) {
		return fmt.Errorf("%d bytes from byte %d on of a view of %d bytes", n, offset, v.size)
	}
	return nil
}
