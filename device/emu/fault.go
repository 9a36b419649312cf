package emu

import (
	"fmt"

	"attest/ptx"
)

// Fault is a launch that went wrong: where in the PTX, by whom, and why.
type Fault struct {
	File   string
	Pos    ptx.Pos
	Source string // "file.cu:12:3", from .loc
	Inst   string
	Kernel string
	Block  [3]int
	Warp   int
	Lane   int // -1 when it is not one lane's doing
	Msg    string
}

func (f *Fault) Error() string {
	at := f.File
	if f.Pos.IsValid() {
		at = fmt.Sprintf("%s:%d:%d", f.File, f.Pos.Line, f.Pos.Col)
	}
	who := fmt.Sprintf("block (%d,%d,%d), warp %d", f.Block[0], f.Block[1], f.Block[2], f.Warp)
	if f.Lane >= 0 {
		who += fmt.Sprintf(", lane %d", f.Lane)
	}
	s := fmt.Sprintf("%s: %s: %s in %s, %s", at, f.Inst, f.Msg, f.Kernel, who)
	if f.Source != "" {
		s += " (" + f.Source + ")"
	}
	return s
}

// raise ends the launch with a fault of the present instruction. lane is -1 when
// it is not one lane's doing.
func (f *frame) raise(lane int, format string, args ...any) {
	panic(f.w.fault(f, lane, fmt.Sprintf(format, args...)))
}

func (w *warp) fault(f *frame, lane int, msg string) *Fault {
	flt := &Fault{File: f.fn.prog.file, Kernel: w.b.kernel.name, Block: w.b.ctaid, Warp: w.id, Lane: lane, Msg: msg}
	if o := &f.fn.code[w.pc]; o.in != nil {
		flt.Pos, flt.Inst, flt.Source = o.in.Pos, o.in.Op.Text, f.fn.source(w.pc)
	}
	return flt
}
