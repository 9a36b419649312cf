package emu

import (
	"fmt"
	"os"
	"strings"
	"testing"
)

// TestVideoH200 compares scalar video instructions with results of an H200. These are the instructions for which
// the code of NVIDIA's assembler differs from the PTX manual.
func TestVideoH200(t *testing.T) {
	data, err := os.ReadFile("testdata/video_h200.txt")
	if err != nil {
		t.Fatal(err)
	}
	var cases []scalarCase
	for line := range strings.Lines(string(data)) {
		var a, b, c, want uint64
		if _, err := fmt.Sscanf(line, "%x %x %x %x", &a, &b, &c, &want); err != nil {
			t.Fatalf("%q: %v", line, err)
		}
		text := strings.TrimSpace(strings.SplitN(line, " ", 5)[4])
		opcode, operands, _ := strings.Cut(text, " ")
		for _, name := range []string{"a", "b", "c", "d"} {
			operands = strings.NewReplacer("-"+name, "-%"+name, " "+name, " %"+name).Replace(" " + operands)[1:]
		}
		cases = append(cases, scalarCase{opcode + " " + operands, [4]int{32, 32, 32, 32}, []row{in3(a, b, c, want)}})
	}
	if len(cases) < 500 {
		t.Errorf("only %d cases", len(cases))
	}
	runCases(t, cases)
}

// TestVideo compares the video instructions with values worked out by hand from the PTX manual, except where an H200
// was found to differ.
func TestVideo(t *testing.T) {
	r := [4]int{32, 32, 32, 32}
	runCases(t, []scalarCase{
		{"vadd.u32.u32.u32 %d, %a.b1, %b.h1;", r, []row{in2(0x0000ff00, 0x12340000, 0xff+0x1234)}},
		{"vadd.s32.s32.u32 %d, %a.b3, %b.b0;", r, []row{in2(0x80000000, 0x000000ff, 0x7f)}},
		{"vadd.s32.s32.s32.sat %d, %a, %b;", r, []row{in2(0x7fffffff, 1, 0x7fffffff), in2(0x80000000, 0xffffffff, 0x80000000)}},
		{"vadd.u32.s32.s32.sat %d, %a, %b;", r, []row{in2(0xffffffff, 0xffffffff, 0), in2(5, 0xfffffffe, 3)}},
		{"vadd.u32.u32.u32.sat %d, %a, %b;", r, []row{in2(0xffffffff, 2, 1)}}, // on an H200
		{"vadd.u32.u32.u32.add %d, %a.b0, %b.b0, %c;", r, []row{in3(0x1ff, 0x101, 7, 0xff+1+7)}},
		{"vadd.s32.s32.s32.min %d, %a, %b, %c;", r, []row{in3(3, 0xfffffffe, 9, 1), in3(3, 4, 0xffffffff, 0xffffffff)}},
		{"vadd.u32.u32.u32.max %d, %a, %b, %c;", r, []row{in3(3, 4, 0xffffffff, 0xffffffff)}},
		{"vadd.u32.u32.u32.sat %d.b1, %a, %b, %c;", r, []row{in3(0xf0, 0x20, 0x11223344, 0x1122ff44)}},
		{"vadd.s32.s32.s32.sat %d.h1, %a, %b, %c;", r, []row{in3(0xffff0000, 0xffff0000, 0x11223344, 0x3344)}}, // on an H200
		{"vadd.u32.u32.u32 %d.h0, %a, %b, %c;", r, []row{in3(0xffff, 3, 0x11223344, 0x11220002)}},
		{"vsub.u32.u32.u32 %d, %a, %b;", r, []row{in2(3, 5, 0xfffffffe)}},
		{"vsub.u32.u32.u32.sat %d, %a, %b;", r, []row{in2(3, 5, 0)}},
		{"vabsdiff.u32.s32.s32 %d, %a.b0, %b.b0;", r, []row{in2(0x80, 0x7f, 255)}},
		{"vabsdiff.s32.s32.s32.sat %d, %a, %b;", r, []row{in2(0x80000000, 0x7fffffff, 0x7fffffff)}},
		{"vmin.s32.u32.s32 %d, %a, %b;", r, []row{in2(0x80000000, 5, 5), in2(1, 0xffffffff, 0xffffffff)}},
		{"vmax.s32.s32.u32.sat %d, %a, %b;", r, []row{in2(0xffffffff, 0xffffffff, 0x7fffffff)}},
		{"vshl.u32.u32.u32.clamp %d, %a, %b;", r, []row{in2(1, 31, 0x80000000), in2(1, 40, 0)}},
		{"vshl.u32.u32.u32.wrap %d, %a, %b;", r, []row{in2(1, 33, 2)}},
		{"vshl.s32.s32.u32.sat.clamp %d, %a, %b;", r, []row{in2(0x40000000, 2, 0x7fffffff), in2(0xffffffff, 99, 0x80000000), in2(0, 99, 0), in2(3, 2, 12)}},
		{"vshr.s32.s32.u32.clamp %d, %a.h1, %b.b0;", r, []row{in2(0x80000000, 4, 0xfffff800), in2(0x80000000, 200, 0xffffffff)}},
		{"vshr.u32.u32.u32.clamp %d, %a, %b;", r, []row{in2(0x80000000, 31, 1), in2(0x80000000, 32, 0)}},
		{"vshr.u32.u32.u32.wrap.add %d, %a, %b, %c;", r, []row{in3(0x80, 36, 5, 13)}},
		{"vmad.s32.s32.u32 %d, %a.b0, %b.b1, %c;", r, []row{in3(0xff, 0x0300, 10, 7)}},
		{"vmad.s32.s32.s32.sat %d, %a, %b, %c;", r, []row{in3(0x10000, 0x10000, 1, 0x7fffffff), in3(0xffff0000, 0x10000, 1, 0x80000000)}},
		{"vmad.u32.u32.u32.sat %d, %a, %b, %c;", r, []row{in3(0x10000, 0x10000, 1, 0xffffffff), in3(0x100, 0x100, 1, 0x10001)}},
		{"vmad.s32.s32.s32.shr7 %d, %a, %b, %c;", r, []row{in3(0x100, 0x10, 0x80, 0x21), in3(0xffffff00, 0x10, 0, 0xffffffe0)}},
		{"vmad.u32.u32.u32.po.shr15 %d, %a, %b, %c;", r, []row{in3(0x8000, 1, 0x7fff, 2)}},
		{"vmad.s32.u32.u32 %d, -%a, %b, %c;", r, []row{in3(3, 4, 20, 8)}},
		{"vmad.s32.u32.u32 %d, %a, %b, -%c;", r, []row{in3(3, 4, 20, 0xfffffff8)}},
		{"vset.s32.u32.lt %d, %a.b0, %b.b0;", r, []row{in2(0xff, 1, 1), in2(2, 1, 0)}},
		{"vset.u32.u32.ge.add %d, %a, %b, %c;", r, []row{in3(2, 2, 41, 42)}},
		{"vset.u32.u32.ne %d.b2, %a, %b, %c;", r, []row{in3(2, 3, 0x11223344, 0x11013344)}},
		{"vadd2.u32.u32.u32 %d, %a, %b, %c;", r, []row{in3(0x0001ffff, 0x00020001, 0, 0x00030000)}},
		{"vadd2.s32.s32.s32.sat %d.h1, %a, %b, %c;", r, []row{in3(0x7fff0001, 0x00010001, 0x1234abcd, 0x7fffabcd)}},
		{"vadd2.u32.u32.u32.add %d, %a, %b, %c;", r, []row{in3(0x0001ffff, 0x00020001, 5, 3+0x10000+5)}},
		{"vsub2.s32.s32.s32 %d, %a.h01, %b.h33, %c;", r, []row{in3(0x00050003, 0x00020009, 0, 0x00010003)}},
		{"vavrg2.s32.s32.s32 %d, %a, %b, %c;", r, []row{in3(0x0001ffff, 0x0002fffe, 0, 0x0002fffe)}},
		{"vavrg4.u32.u32.u32 %d, %a, %b, %c;", r, []row{in3(0xff000102, 0xff010203, 0, 0xff010203)}},
		{"vabsdiff4.s32.s32.s32.add %d.b30, %a, %b, %c;", r, []row{in3(0x80000001, 0x7f0000ff, 1, 1+255+2)}},
		{"vmin4.s32.s32.u32 %d, %a.b3210, %b.b7654, %c;", r, []row{in3(0x80ff0102, 0x01020304, 0, 0x80ff0102)}},
		{"vmax4.u32.u32.u32.sat %d.b1, %a.b7654, %b.b0000, %c;", r, []row{in3(5, 0x01020304, 0x11223344, 0x11220544)}},
		{"vsub4.u32.u32.u32.sat %d, %a, %b, %c;", r, []row{in3(0x05050505, 0x01060105, 0, 0x04000400)}},
		{"vset2.s32.s32.gt %d, %a, %b, %c;", r, []row{in3(0xffff0005, 0x00000004, 0, 0x00000001)}},
		{"vset4.u32.u32.eq.add %d, %a, %b, %c;", r, []row{in3(0x01020304, 0x01ff03ff, 10, 12)}},
	})
}
