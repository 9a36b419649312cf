package rival

import "github.com/GOATnote-Inc/attest/problem"

// Case is one call of a rival's attention. Causal hides keys after the query: those of the
// last query are all seen.
type Case struct {
	Shape          problem.Shape
	Causal         bool
	DType          string // "f16", "bf16", "e4m3" or "e5m2"
	Implementation string // as Hello lists them
	// Seed makes N(0,1) inputs, by the library's own generator; other sets, for
	// cold launches, come from seeds that follow from it.
	Seed uint64
	// Inputs are files that replace the first set.
	Inputs *Inputs
	Scale  float64 // of Q·Kᵀ, 1/√D when zero
}

// Inputs are files of elements in the order of [problem.Shape], little-endian, without header.
// They are converted to the type of the case.
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
