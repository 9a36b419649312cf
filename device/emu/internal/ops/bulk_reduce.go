package ops

import (
	"github.com/GOATnote-Inc/attest/device/emu/internal/memory"
	"github.com/GOATnote-Inc/attest/ptx"
)

// placing is what a copy does with the bytes at its destination: puts its own in
// their place, or combines them element by element. shared says that other
// goroutines may do the same.
type placing func(dst, src []byte, shared bool)

func replaceBytes(dst, src []byte, _ bool) { copy(dst, src) }

// placingOf is what the copy does by its operation and type.
func placingOf(d *decoder, x *inst) placing {
	op := x.Mod("redOp")
	if x.Has("noftz") {
		op = "add"
	}
	if op == "" {
		return replaceBytes
	}
	return reduceBytes(op, ptx.ParseType(x.Mod("type")))
}

// reduceBytes combines elements of a type, or is nil when they cannot be.
func reduceBytes(op string, t ptx.Type) placing {
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

// reducer is the operation of a reduction. A tensor's elements have the type that
// its map says: bits are combined and numbers of 64 bits added whatever their sign.
func reducer(op string, t ptx.Type) combine {
	switch {
	case op == "and" || op == "or" || op == "xor":
		t = map[int]ptx.Type{32: ptx.B32, 64: ptx.B64}[t.Bits()]
	case op == "add" && t == ptx.S64:
		t = ptx.U64
	}
	return combineOf(op, t)
}
