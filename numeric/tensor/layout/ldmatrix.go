package layout

// LdMatrix is the place, in 8×8 matrices of 16-bit elements, of half h of a lane's
// register: the registers of ldmatrix and stmatrix are one matrix each. trans is
// for .trans. It is also movmatrix, whose source is LdMatrix(lane, h, false) and
// whose destination LdMatrix(lane, h, true).
func LdMatrix(lane, h int, trans bool) Pos {
	p := Pos{group(lane), 2*quad(lane) + h}
	if trans {
		return transpose(p)
	}
	return p
}

// LdMatrixRow is the lane that has the address of a row of a matrix.
func LdMatrixRow(matrix, row int) (lane int) { return 8*matrix + row }
