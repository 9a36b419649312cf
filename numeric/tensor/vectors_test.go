package tensor

import (
	"bufio"
	"math"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
)

// vectorDir is a directory next to the repository with results of hardware.
const vectorDir = "../../../shared/vectors"

// TestHardwareVectors compares products with the results of an Ada GPU and of an H200.
func TestHardwareVectors(t *testing.T) {
	if _, err := os.Stat(vectorDir); err != nil {
		t.Skip("no hardware vectors here: ", err)
	}
	for _, v := range []struct {
		card, folder string
		arch         Arch
		inst         Inst
		kind, d      Kind
		noC          bool // the results are for c = 0
	}{
		{"Ada", "fp16", Ada, MMA, F16, F32, false},
		{"Ada", "fp16", Ada, MMA, F16, F16, false},
		{"Ada", "bf16", Ada, MMA, BF16, F32, false},
		{"Ada", "tf32", Ada, MMA, TF32, F32, false},
		{"Ada", "E4M3", Ada, MMA, E4M3, F32, false},
		{"Ada", "E4M3", Ada, MMA, E4M3, F16, false},
		{"Ada", "E5M2", Ada, MMA, E5M2, F32, false},
		{"Ada", "E5M2", Ada, MMA, E5M2, F16, false},
		{"H200", "fp16", Hopper, MMA, F16, F32, false},
		{"H200", "fp16", Hopper, MMA, F16, F16, false},
		{"H200", "bf16", Hopper, MMA, BF16, F32, false},
		{"H200", "tf32", Hopper, MMA, TF32, F32, false},
		{"H200", "tf32", Hopper, WMMA, TF32, F32, false},
		{"H200", "E4M3", Hopper, WGMMA, E4M3, F32, true},
		{"H200", "E4M3", Hopper, MMA, E4M3, F16, false},
		{"H200", "E5M2", Hopper, WGMMA, E5M2, F32, true},
		{"H200", "E5M2", Hopper, MMA, E5M2, F16, false},
	} {
		name := strings.Join([]string{v.card, v.inst.String(), v.kind.String(), v.d.String()}, "/")
		t.Run(name, func(t *testing.T) {
			dir := filepath.Join(vectorDir, v.card, v.folder)
			a := readVectors(t, dir, "a_"+v.card+"_"+v.folder, 16)
			b := readVectors(t, dir, "b_"+v.card+"_"+v.folder, 16)
			c := readVectors(t, dir, "c_"+v.card+"_fp32", 2)
			d := readVectors(t, dir, "d_"+v.card+"_"+map[Kind]string{F16: "fp16", F32: "fp32"}[v.d], 2)
			f := mustFloat(t, v.arch, v.inst, v.kind, v.kind, v.d)
			wrong := 0
			for i := range a {
				acc := encode(v.d, c[i][0])
				if v.noC {
					acc = 0
				}
				got := dotBits(f, pack(v.kind, encodeAll(v.kind, a[i])), pack(v.kind, encodeAll(v.kind, b[i])), len(a[i]), acc)
				if want := encode(v.d, d[i][0]); got != want {
					if wrong++; wrong <= 3 {
						t.Errorf("line %d: got %#x, want %#x", i+1, got, want)
					}
				}
			}
			if wrong > 0 || len(a) != 1000 {
				t.Errorf("%d of %d differ", wrong, len(a))
			}
		})
	}
}

// readVectors reads a file of f32 numbers in the given base, by line.
func readVectors(t *testing.T, dir, name string, base int) (lines [][]uint32) {
	t.Helper()
	file, err := os.Open(filepath.Join(dir, name+".txt"))
	if err != nil {
		t.Fatal(err)
	}
	defer file.Close()
	for s := bufio.NewScanner(file); s.Scan(); {
		var line []uint32
		for w := range strings.FieldsSeq(s.Text()) {
			u, err := strconv.ParseUint(w, base, 32)
			if err != nil {
				t.Fatal(err)
			}
			line = append(line, uint32(u))
		}
		lines = append(lines, line)
	}
	return lines
}

// encode converts an f32 to another type, rounded to nearest even.
func encode(k Kind, f32 uint32) uint32 {
	switch k {
	case F32, TF32:
		return f32
	case BF16:
		return f32 >> 16
	case F16:
		return bitsF16(float64(math.Float32frombits(f32)))
	}
	for bits := range uint32(256) {
		var one [4]float64
		k.unpack(one[:], []uint32{bits})
		if one[0] == float64(math.Float32frombits(f32)) && bits>>7 == f32>>31 {
			return bits
		}
	}
	panic("not a number of " + k.String())
}

func encodeAll(k Kind, f32s []uint32) []uint32 {
	out := make([]uint32, len(f32s))
	for i, x := range f32s {
		out[i] = encode(k, x)
	}
	return out
}

// pack puts elements into words.
func pack(k Kind, codes []uint32) []uint32 {
	words := make([]uint32, k.Words(len(codes)))
	for i, x := range codes {
		bit := i * k.Bits()
		words[bit/32] |= x << (bit % 32)
	}
	return words
}

func mustFloat(t testing.TB, arch Arch, inst Inst, a, b, d Kind) *Float {
	t.Helper()
	f, err := NewFloat(arch, inst, a, b, d)
	if err != nil {
		t.Fatal(err)
	}
	return f
}

func dotBits(f *Float, a, b []uint32, k int, c uint32) uint32 {
	var rows Rows
	var cols Cols
	f.LoadA(&rows, 1, k, a)
	f.LoadB(&cols, 1, k, b)
	d := []uint32{c}
	f.MulAdd(d, &rows, &cols, d)
	return d[0]
}

// quantise returns x truncated to the precision of a type and clamped to the range of fp8.
func quantise(k Kind, x float64) uint32 {
	keep := max(52-formats[k].frac, 29) // a float32 holds the rest
	x = math.Float64frombits(math.Float64bits(x) &^ (1<<keep - 1))
	if k.fp8() {
		x = math.Trunc(x*0x1p9) * 0x1p-9
	}
	return encode(k, math.Float32bits(float32(x)))
}
