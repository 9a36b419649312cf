package tile

import "github.com/GOATnote-Inc/attest/build"

// Print prints the element in a row and column of the fragment's matrix, from the lane
// that holds it, as "name[row,col] = value". All lanes may make the call. A layout that
// holds an element several times prints it several times.
func (f *Frag) Print(lane build.U32, name string, row, col build.Int) {
	r, c := f.k.AsU32(row), f.k.AsU32(col)
	f.printWhere(lane, name, func(atRow, atCol build.U32) build.Pred {
		return atRow.SetpEq(r).And(atCol.SetpEq(c))
	})
}

// PrintRow prints every element of a row, each on a line of its own. The lanes of a row
// print in any order.
func (f *Frag) PrintRow(lane build.U32, name string, row build.Int) {
	r := f.k.AsU32(row)
	f.printWhere(lane, name, func(atRow, _ build.U32) build.Pred { return atRow.SetpEq(r) })
}

// printWhere prints the elements in the places that is selects.
func (f *Frag) printWhere(lane build.U32, name string, is func(row, col build.U32) build.Pred) {
	row, col := f.Base(f.k, lane)
	for i := range f.elems {
		at := f.Elem(i)
		r, c := row.Add(at.Row), col.Add(at.Col)
		f.k.If(is(r, c), func() { f.k.Printf(name+"[%u,%u] = %g\n", r, c, f.Get(i)) })
	}
}
