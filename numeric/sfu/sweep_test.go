package sfu

import (
	"encoding/binary"
	"flag"
	"fmt"
	"hash/crc32"
	"os"
	"strings"
	"testing"
)

var sweep = flag.Bool("sweep", false, "compare all 2^32 inputs of each function, not a few runs of them")

// TestAgainstCard compares the functions with an H200. For each function, testdata/h200.crc
// holds the CRC-32 sums of the results (little-endian words) for each of the 256 ranges of
// 2^24 arguments.
func TestAgainstCard(t *testing.T) {
	text, err := os.ReadFile("testdata/h200.crc")
	if err != nil {
		t.Fatal(err)
	}
	funcs := map[string]func(uint32, bool) uint32{
		"ex2": Ex2, "rcp": Rcp, "rsqrt": Rsqrt, "sqrt": Sqrt, "lg2": Lg2, "sin": Sin, "cos": Cos, "tanh": Tanh,
	}
	for line := range strings.Lines(string(text)) {
		f := strings.Fields(line)
		name, _, _ := strings.Cut(f[0], ".")
		t.Run(f[0], func(t *testing.T) {
			t.Parallel()
			compareRuns(t, funcs[name], strings.Contains(f[0], ".ftz"), f[1:])
		})
	}
}

// TestLanesAgainstCard compares the functions of whole registers with an H200 on all inputs.
func TestLanesAgainstCard(t *testing.T) {
	if !*sweep {
		t.Skip("needs -sweep")
	}
	text, err := os.ReadFile("testdata/h200.crc")
	if err != nil {
		t.Fatal(err)
	}
	funcs := map[string]Func{
		"ex2": FuncEx2, "rcp": FuncRcp, "rsqrt": FuncRsqrt, "sqrt": FuncSqrt, "lg2": FuncLg2, "sin": FuncSin, "cos": FuncCos, "tanh": FuncTanh,
	}
	for line := range strings.Lines(string(text)) {
		f := strings.Fields(line)
		name, _, _ := strings.Cut(f[0], ".")
		t.Run(f[0], func(t *testing.T) { compareLanes(t, funcs[name], strings.Contains(f[0], ".ftz"), f[1:]) })
	}
}

func compareLanes(t *testing.T, fn Func, ftz bool, crcs []string) {
	buf := make([]byte, 1<<26)
	for run, want := range crcs {
		var x [32]uint32
		for i := uint32(0); i < 1<<24; i += 32 {
			for l := range x {
				x[l] = uint32(run)<<24 | i + uint32(l)
			}
			fn.Lanes(&x, &x, ftz)
			for l, v := range x {
				binary.LittleEndian.PutUint32(buf[4*(int(i)+l):], v)
			}
		}
		if got := fmt.Sprintf("%08x", crc32.ChecksumIEEE(buf)); got != want {
			t.Errorf("arguments %02x000000 to %02xffffff: CRC %s, on the card %s", run, run, got, want)
		}
	}
}

// telling are the ranges that are compared if not all are: around zero, around one, and large
// negative numbers.
var telling = map[int]bool{0x00: true, 0x3f: true, 0xc2: true}

func compareRuns(t *testing.T, fn func(uint32, bool) uint32, ftz bool, crcs []string) {
	if len(crcs) != 256 {
		t.Fatalf("%d runs", len(crcs))
	}
	buf := make([]byte, 1<<26)
	for run, want := range crcs {
		if !*sweep && (!telling[run] || testing.Short()) {
			continue
		}
		for i := range uint32(1 << 24) {
			binary.LittleEndian.PutUint32(buf[4*i:], fn(uint32(run)<<24|i, ftz))
		}
		if got := fmt.Sprintf("%08x", crc32.ChecksumIEEE(buf)); got != want {
			t.Errorf("arguments %02x000000 to %02xffffff: CRC %s, on the card %s", run, run, got, want)
		}
	}
}

// TestHalvesAgainstCard compares the 16-bit functions with an H200 on all 65,536 arguments,
// by the CRC-32 of the results as little-endian 16-bit words.
func TestHalvesAgainstCard(t *testing.T) {
	text, err := os.ReadFile("testdata/h200-half.crc")
	if err != nil {
		t.Fatal(err)
	}
	funcs := map[string]func(uint16) uint16{
		"ex2.approx.f16": Ex2F16, "tanh.approx.f16": TanhF16, "ex2.approx.ftz.bf16": Ex2BF16, "tanh.approx.bf16": TanhBF16,
	}
	for line := range strings.Lines(string(text)) {
		f := strings.Fields(line)
		buf := make([]byte, 1<<17)
		for i := range 1 << 16 {
			binary.LittleEndian.PutUint16(buf[2*i:], funcs[f[0]](uint16(i)))
		}
		if got := fmt.Sprintf("%08x", crc32.ChecksumIEEE(buf)); got != f[1] {
			t.Errorf("%s: CRC %s, on the card %s", f[0], got, f[1])
		}
	}
}
