// Package layout says where the elements of a matrix live in the registers of a
// warp or a warpgroup: pure functions from a lane and the index of one of its
// elements to a row and a column.
//
// An element's index counts in the order of the instruction's registers, and in a
// register from the lowest bits. Rows and columns are those of the mathematical
// matrix: A is M×K, B is K×N, C and D are M×N, whatever the order in memory.
//
// PTX leaves the fragments of wmma open. Here they are where ptxas puts them for
// sm_80 to sm_90, so that code which relies on it sees what hardware shows.
package layout

// Pos is the place of an element in its matrix.
type Pos struct{ Row, Col int }

// Map gives the place of element i of a lane. The lane of a warpgroup is 0…127.
type Map func(lane, i int) Pos

// Fragment is a matrix, or a tile of it, in registers.
type Fragment struct {
	Rows, Cols int
	Lanes      int // 32, or 128 in a warpgroup
	Elements   int // of one lane
	Copies     int // times that each element is held
	At         Map
}
