package ops

import (
	"github.com/GOATnote-Inc/attest/device/emu/internal/memory"
	"github.com/GOATnote-Inc/attest/ptx"
)

// bulkWrite writes the bytes of a copy to its destination: it replaces the bytes there, or
// combines both element by element. shared is set if other goroutines may write to the
// same destination at the same time.
type bulkWrite func(dst, src []byte, shared bool)

func replaceBytes(dst, src []byte, _ bool) { copy(dst, src) }

// bulkWriteOf returns the bulkWrite for the operation and the type of a copy.
func bulkWriteOf(d *decoder, x *inst) bulkWrite {
	op := x.Mod("redOp")
	if x.Has("noftz") {
		op = "add"
	}
	if op == "" {
		return replaceBytes
	}
	return reduceBytes(op, ptx.ParseType(x.Mod("type")))
}

// reduceBytes returns the bulkWrite that combines elements of a type, or nil if there is
// no such operation.
func reduceBytes(op string, t ptx.Type) bulkWrite {
	fn := reducer(op, t)
	if fn == nil {
		return nil
	}
	size := t.Bytes()
	return func(dst, src []byte, shared bool) {
		for i := 0; i+size <= len(src); i += size {
			update(dst[i:][:size], shared, fn, memory.Word(src[i:][:size]), 0)
		}
	}
}

// reducer returns the operation of a reduction. The elements of a tensor have the
// type in its map, so bit operations and 64-bit additions ignore the sign.
func reducer(op string, t ptx.Type) combine {
	switch {
	case op == "and" || op == "or" || op == "xor":
		t = map[int]ptx.Type{32: ptx.B32, 64: ptx.B64}[t.Bits()]
	case op == "add" && t == ptx.S64:
		t = ptx.U64
	}
	return combineOf(op, t)
}
