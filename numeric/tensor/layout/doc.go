// Package layout defines where the elements of a matrix are in the registers of a warp or a
// warpgroup. Its functions map a lane and the index of one of its elements to a row and a
// column.
//
// The index of an element follows the order of the instruction's registers, and starts with
// the lowest bits of a register. Rows and columns are those of the mathematical matrix, for
// any order in memory: A is M×K, B is K×N, C and D are M×N.
//
// PTX does not define the fragments of wmma. Here they are the fragments that ptxas uses for
// sm_80 to sm_90, so that code which relies on them works as on hardware.
package layout

// Pos is the place of an element in its matrix.
type Pos struct{ Row, Col int }

// Map returns the place of element i of a lane. In a warpgroup, lanes are 0…127.
type Map func(lane, i int) Pos

// Fragment is a matrix, or a tile of it, in registers.
type Fragment struct {
	Rows, Cols int
	Lanes      int // 32, or 128 in a warpgroup
	Elements   int // per lane
	Copies     int // how often each element occurs in the registers
	At         Map
}
