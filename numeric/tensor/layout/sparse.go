package layout

// Metadata returns the fragment of the metadata of a sparse A, for mma.sp (32 lanes) and
// wgmma.mma_async.sp (128 lanes). s is the shape of the instruction, bits the size of an element of A.
//
// The metadata of A has one entry of four bits for each chunk of four units of a row. A unit is a
// 16-bit element, half of a 32-bit element, an 8-bit element, or two 4-bit elements. A is stored
// with two units of each chunk, and the entry holds their places in the chunk: bits 0 and 1 for the
// first, bits 2 and 3 for the second. Element i of a lane is the entry from bit 4i on. A Pos is a
// row of A and the number of a chunk in it.
//
// Of each four lanes, one, two or four hold the metadata. The others hold copies in this fragment.
// The sparsity selector chooses the copy: see [Selected].
func Metadata(s Shape, bits int) Fragment {
	width := s.K / chunkLength(bits)
	f := Fragment{16, width, 32, 8, 4 / holders(s, bits), metadataHalves(s, bits)}
	if bits < 16 {
		f.At = metadataRows(s, bits)
	}
	if s.M == 64 {
		f.Rows, f.Lanes = 64, 128
		warp := f.At
		f.At = func(lane, i int) Pos {
			p := warp(lane%32, i)
			return Pos{p.Row + lane/32*16, p.Col}
		}
	}
	return f
}

// metadataHalves is the layout for elements of 16 and 32 bits: a lane has four chunks of a row in
// the low half of its word, and the same chunks of the row eight below in the high half.
func metadataHalves(s Shape, bits int) Map {
	n := holders(s, bits)
	return func(lane, i int) Pos { return Pos{group(lane) + i/4*8, quad(lane)%n*4 + i%4} }
}

// metadataRows is the layout for elements of 8 and 4 bits: a lane has eight chunks of one row. Odd
// lanes have the row eight below, and the upper two of four lanes have the next eight chunks.
func metadataRows(s Shape, bits int) Map {
	n := holders(s, bits)
	return func(lane, i int) Pos {
		q := quad(lane) % n
		return Pos{group(lane) + q%2*8, q/2*8 + i}
	}
}

// chunkLength returns the number of elements of A, including zeros, that an entry describes.
func chunkLength(bits int) int {
	switch bits {
	case 32:
		return 2
	case 4:
		return 8
	}
	return 4
}

// holders returns how many of four lanes hold the metadata.
func holders(s Shape, bits int) int { return s.K / chunkLength(bits) / 4 }

// Selectors returns the number of values that the sparsity selector of an instruction has.
func Selectors(s Shape, bits int) int { return 4 / holders(s, bits) }

// Selected reports whether the metadata of a lane is used with a sparsity selector.
func Selected(s Shape, bits, lane, selector int) bool {
	return quad(lane)/holders(s, bits) == selector
}
