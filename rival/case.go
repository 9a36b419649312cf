package rival

import (
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"
)

// Shape is that of Q, K and V: batch, heads, sequence, head dimension.
type Shape struct{ B, H, S, D int }

// Shapes are those that have names.
var Shapes = map[string]Shape{
	"small": {1, 1, 32, 64}, "mission": {1, 8, 512, 64}, "mission256": {2, 8, 256, 64}, "long": {1, 8, 2048, 64},
	"big64": {4, 32, 4096, 64}, "big128": {4, 16, 4096, 128}, "huge64": {2, 32, 16384, 64}, "huge128": {2, 16, 16384, 128},
}

// ParseShape reads a name or four numbers, "1,8,512,64".
func ParseShape(text string) (Shape, error) {
	if s, ok := Shapes[text]; ok {
		return s, nil
	}
	fields := strings.Split(text, ",")
	var n [4]int
	for i := range n {
		var err error
		if len(fields) != len(n) {
			err = strconv.ErrSyntax
		} else if n[i], err = strconv.Atoi(strings.TrimSpace(fields[i])); err == nil && n[i] < 1 {
			err = strconv.ErrRange
		}
		if err != nil {
			return Shape{}, fmt.Errorf("shape %q: give B,H,S,D as in 1,8,512,64, or a name: %s",
				text, strings.Join(slices.Sorted(maps.Keys(Shapes)), ", "))
		}
	}
	return Shape{n[0], n[1], n[2], n[3]}, nil
}

func (s Shape) String() string { return fmt.Sprintf("%d,%d,%d,%d", s.B, s.H, s.S, s.D) }

// FLOPs is how many operations attention of the shape is, two products of S by S
// by D a head.
func (s Shape) FLOPs() float64 {
	return 4 * float64(s.B) * float64(s.H) * float64(s.S) * float64(s.S) * float64(s.D)
}

// Teraflops is the rate at which attention that takes so many microseconds works.
func (s Shape) Teraflops(micros float64) float64 { return s.FLOPs() / micros / 1e6 }

// Case is one call of a rival's attention, not causal.
type Case struct {
	Shape          Shape
	DType          string // "f16", "bf16", "e4m3" or "e5m2"
	Implementation string // as Hello lists them
	// Seed makes N(0,1) inputs, by the library's own generator; other sets, for
	// cold launches, come from seeds that follow from it.
	Seed uint64
	// Inputs are files that replace the first set.
	Inputs *Inputs
	Scale  float64 // of Q·Kᵀ, 1/√D when zero
}

// Inputs are files of [B,H,S,D] elements, little-endian, without header. They are
// converted to the type of the case.
type Inputs struct {
	Q     string `json:"q"`
	K     string `json:"k"`
	V     string `json:"v"`
	DType string `json:"dtype"` // what is in the files: also "f32"
}

// Hello is what the rival says of itself.
type Hello struct {
	Python          string            `json:"python"`
	Versions        map[string]string `json:"versions"`
	Device          string            `json:"device"`
	UUID            string            `json:"uuid"` // "GPU-…", or "" where the library does not tell
	Implementations []Implementation  `json:"implementations"`
}

// Implementation is a way in which a library computes attention.
type Implementation struct {
	Name   string   `json:"name"`
	DTypes []string `json:"dtypes"`
}

// Output is what a rival computed.
type Output struct {
	// Checksum is of all elements: their sum, the sum of their absolute values, and
	// how many are infinite or NaN, which the sums leave out.
	Checksum struct {
		Sum float64 `json:"sum"`
		Abs float64 `json:"abs"`
		Bad int     `json:"bad"`
	} `json:"checksum"`
	// Error is against float64 on the inputs as the library got them, over a few
	// rows of several heads. A result with NaN in it has none.
	Error struct {
		Max  *float64 `json:"max"`
		Mean *float64 `json:"mean"`
		Rows int      `json:"rows"`
	} `json:"error"`
	// Values are all of O, if they were asked for.
	Values []float32 `json:"-"`
}
