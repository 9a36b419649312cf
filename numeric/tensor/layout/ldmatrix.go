package layout

// LdMatrix returns the place of half h of a lane's register in an 8×8 matrix of 16-bit
// elements. Each register of ldmatrix and stmatrix belongs to one matrix. trans is set for
// .trans. The function also describes movmatrix: its source is LdMatrix(lane, h, false), its
// destination is LdMatrix(lane, h, true).
func LdMatrix(lane, h int, trans bool) Pos {
	p := Pos{group(lane), 2*quad(lane) + h}
	if trans {
		return transpose(p)
	}
	return p
}

// LdMatrixRow returns the lane that holds the address of a row of a matrix.
func LdMatrixRow(matrix, row int) (lane int) { return 8*matrix + row }
