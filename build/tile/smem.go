package tile

import "github.com/GOATnote-Inc/attest/build"

// Tile is a matrix in shared memory, stored by rows.
//
// When the length of a row is a power of two, a column lies in few banks, and ldmatrix,
// which reads 16 bytes of each of eight rows at once, has bank conflicts. There are two
// cures. [Padded] makes each row 16 bytes longer. [Swizzled] permutes the units of 16
// bytes within each row, which costs no memory but one xor per address.
type Tile[T build.Value] struct {
	Rows, Cols int
	k          *build.Kernel
	mem        build.Shared[T]
	pitch      int  // bytes from row to row
	swizzle    bool // the units of a row are permuted
	row0, col0 *build.U32
	offset     *build.U32 // bytes that are added to every address
}

// unit is the number of bytes that cp.async, ldmatrix and the widest loads and stores move.
const unit = 16

// Bytes returns the size of a tile with the given rows and bytes per row.
func Bytes(rows, rowBytes int, swizzled bool) int {
	return rows * pitchOf(rowBytes, swizzled)
}

func pitchOf(rowBytes int, swizzled bool) int {
	if swizzled {
		return rowBytes
	}
	return rowBytes + unit
}

// Padded returns the tile at mem with rows padded by 16 bytes.
func Padded[T build.Value](k *build.Kernel, mem build.Shared[T], rows, cols int) Tile[T] {
	return Pitched(k, mem, rows, cols, cols+unit/sizeOf[T]())
}

// Pitched returns the tile at mem with rows pitch elements apart.
func Pitched[T build.Value](k *build.Kernel, mem build.Shared[T], rows, cols, pitch int) Tile[T] {
	return Tile[T]{Rows: rows, Cols: cols, k: k, mem: mem, pitch: pitch * sizeOf[T]()}
}

// Swizzled returns the tile at mem with the units of 16 bytes permuted in each row. In rows of
// 128 bytes and more, unit u of row r lies at u xor (r mod 8); in rows of 64 bytes at u
// xor (r/2 mod 4); in rows of 32 bytes at u xor (r/4 mod 2). For rows of exactly 128, 64
// and 32 bytes the copy engine swizzles in the same way.
func Swizzled[T build.Value](k *build.Kernel, mem build.Shared[T], rows, cols int) Tile[T] {
	t := Pitched(k, mem, rows, cols, cols)
	t.swizzle = true
	if units := t.pitch / unit; t.pitch%unit != 0 || units < 2 || units&(units-1) != 0 {
		k.Errorf("a swizzled tile has rows of %d bytes: they must be 32, 64, 128 or more, a power of two", t.pitch)
	}
	return t
}

func sizeOf[T build.Value]() int {
	var zero T
	return zero.Type().Bytes()
}

// Sub returns the part of a tile that starts at element (row0, col0). row0 is a multiple of
// 8, and col0 a multiple of the columns that one access takes.
func (t Tile[T]) Sub(row0, col0 build.Int, rows, cols int) Tile[T] {
	row, col := t.k.AsU32(row0), t.k.AsU32(col0)
	if t.row0 != nil {
		row, col = t.row0.Add(row), t.col0.Add(col)
	}
	t.row0, t.col0, t.Rows, t.Cols = &row, &col, rows, cols
	return t
}

// At returns the address of element (row, col).
func (t Tile[T]) At(row, col build.Int) build.Shared[T] { return t.Cursor(row, col).At(0, 0) }

// Cursor is a place in a tile from which other places are a constant distance away.
type Cursor[T build.Value] struct {
	k    *build.Kernel
	size int
	row  build.U32 // address of the row, or of the element when there is no swizzle
	col  *build.U32
	t    Tile[T]
}

// Cursor returns the place of element (atRow, atCol).
func (t Tile[T]) Cursor(atRow, atCol build.Int) Cursor[T] {
	k := t.k
	row, col := k.AsU32(atRow), k.AsU32(atCol)
	if t.row0 != nil {
		row, col = t.row0.Add(row), t.col0.Add(col)
	}
	c := Cursor[T]{k: k, size: sizeOf[T](), t: t}
	bytes := col.MulLo(c.size)
	if !t.swizzle {
		c.row = row.MadLo(t.pitch, bytes).Add(t.mem.Addr())
		return c.moved()
	}
	c.row = row.MadLo(t.pitch, t.mem.Addr())
	xored := bytes.Xor(t.permute(row))
	c.col = &xored
	return c.moved()
}

// Plus returns the same tile, bytes bytes further on, in another slot of a ring.
func (t Tile[T]) Plus(bytes build.U32) Tile[T] {
	if t.offset != nil {
		bytes = t.offset.Add(bytes)
	}
	t.offset = &bytes
	return t
}

// moved returns the cursor in the tile that [Tile.Plus] has moved.
func (c Cursor[T]) moved() Cursor[T] {
	if c.t.offset == nil {
		return c
	}
	return c.Plus(*c.t.offset)
}

// permute returns the number of bytes that the columns of a row are xored with.
func (t Tile[T]) permute(row build.U32) build.U32 {
	units := t.pitch / unit
	for ; units < 8; units *= 2 { // several rows in the width of all banks
		row = row.Shr(1)
	}
	return row.And(min(t.pitch/unit, 8) - 1).Shl(4)
}

// At returns the address that is rows and cols further on. In a swizzled tile, rows must be
// a multiple of 8, and cols must share no bit with the cursor's own column: then adding
// and xoring give the same address.
func (c Cursor[T]) At(rows, cols int) build.Shared[T] {
	off := rows * c.t.pitch
	if c.col == nil {
		return build.SharedAs[T](build.SharedAt[T](c.row), off+cols*c.size)
	}
	col := *c.col
	if cols != 0 {
		col = col.Xor(cols * c.size)
	}
	return build.SharedAs[T](build.SharedAt[T](c.row.Add(col)), off)
}

// Plus returns the same place in a tile that is bytes bytes further on, in another slot of a
// ring.
func (c Cursor[T]) Plus(bytes build.U32) Cursor[T] {
	c.row = c.row.Add(bytes)
	return c
}
