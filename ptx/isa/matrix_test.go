package isa_test

import (
	"fmt"
	"testing"

	"github.com/GOATnote-Inc/attest/ptx"
	"github.com/GOATnote-Inc/attest/ptx/isa"
)

// TestFragmentsHoldTheirMatrix checks that the registers of all lanes together have as many
// bits as the matrix. The f16 factors of wmma are an exception: they take eight registers for
// every shape.
func TestFragmentsHoldTheirMatrix(t *testing.T) {
	seen := 0
	for _, m := range variants() {
		for matrix, f := range fragmentsOf(m) {
			if f.element == ptx.NoType {
				continue // an f16 factor of wmma, which the opcode does not name
			}
			seen++
			bits := m.Count(f.param) * m.Type(f.param).Bits() * f.lanes
			if want := f.rows * f.cols * f.element.Bits() * f.copies; bits != want {
				t.Errorf("%s: %s has %d bits in registers, its matrices have %d", m.Opcode().Text, matrix, bits, want)
			}
		}
	}
	if seen == 0 {
		t.Error("the table has no matrix products")
	}
}

// fragment is a matrix of a product that is in registers.
type fragment struct {
	param         *isa.Param
	rows, cols    int
	element       ptx.Type
	lanes, copies int
}

// fragmentsOf returns the matrices of a product that are in registers, by name.
func fragmentsOf(m isa.Match) map[string]fragment {
	op, lanes := m.Form.Op, 32
	switch {
	case op == "wgmma" && m.Has("mma_async"):
		lanes = 128
	case op != "mma" && !(op == "wmma" && m.Has("mma")):
		return nil
	}
	rows, cols, depth, types := shapeAndTypes(m)
	first, last := types[0], types[min(len(types), 4)-1]
	var a, b ptx.Type
	if len(types) > 2 {
		a, b = types[1], types[2]
	}
	copies := 1
	if m.Has("kind::f8f6f4") || m.Has("kind::mxf8f6f4") {
		a, b = ptx.B8, ptx.B8 // narrow elements are padded to a byte
	}
	if op == "mma" && m.Has("m8n8k4") && a == ptx.F16 {
		copies = 4 // one product for each quarter of the warp
	}
	fs := map[string]fragment{}
	for i := range m.Form.Params {
		p := &m.Form.Params[i]
		switch p.Name {
		case "d":
			fs["d"] = fragment{p, rows, cols, first, lanes, copies}
		case "c":
			fs["c"] = fragment{p, rows, cols, last, lanes, copies}
		case "a":
			kept := depth
			if m.Has("sp") || m.Has("sp::ordered_metadata") {
				kept /= 2 // half of the elements are zeros, which are left out
			}
			fs["a"] = fragment{p, rows, kept, a, lanes, copies}
		case "b":
			fs["b"] = fragment{p, depth, cols, b, lanes, copies}
		}
	}
	return fs
}

// shapeAndTypes returns M, N, K and the types of the matrices, which it reads from the opcode.
func shapeAndTypes(m isa.Match) (rows, cols, depth int, types []ptx.Type) {
	for _, mod := range m.Opcode().Mods {
		fmt.Sscanf(mod, "m%dn%dk%d", &rows, &cols, &depth)
		if t := ptx.ParseType(mod); t != ptx.NoType {
			types = append(types, t)
		}
	}
	return rows, cols, depth, types
}
