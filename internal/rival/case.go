package rival

import "github.com/GOATnote-Inc/attest/problem"

// Case is one call of the attention of a rival. Causal hides the keys after the query; the last
// query sees all keys.
type Case struct {
	Shape          problem.Shape
	Causal         bool
	DType          string // "f16", "bf16", "e4m3" or "e5m2"
	Implementation string // as Hello lists them
	// Seed is the seed of the inputs from N(0,1), which the library generates. The seeds of
	// further sets, for cold launches, are derived from it.
	Seed uint64
	// Inputs are files that replace the first set of inputs; nil generates all sets.
	Inputs *Inputs
	Scale  float64 // the scale of Q·Kᵀ, 1/√D when zero
}

// Inputs are files of elements in the order of [problem.Shape], little-endian, without header.
// They are converted to the type of the case.
type Inputs struct {
	Q     string `json:"q"`
	K     string `json:"k"`
	V     string `json:"v"`
	DType string `json:"dtype"` // the type in the files; "f32" is also possible
	// Scales multiply the numbers in the files. A library that computes in eight bits takes them as they
	// are; otherwise it gets the products. nil multiplies nothing.
	Scales *Scales `json:"scales,omitempty"`
}

// Scales are factors of Q, K and V, one for each batch and head.
type Scales struct {
	Q [][]float32 `json:"q"`
	K [][]float32 `json:"k"`
	V [][]float32 `json:"v"`
}

// Hello describes a rival.
type Hello struct {
	Python          string            `json:"python"`
	Versions        map[string]string `json:"versions"`
	Device          string            `json:"device"`
	UUID            string            `json:"uuid"` // "GPU-…", or "" if the library does not know it
	Implementations []Implementation  `json:"implementations"`
}

// Implementation is one implementation of attention in a library.
type Implementation struct {
	Name   string   `json:"name"`
	DTypes []string `json:"dtypes"`
}

// Output is the output of a rival.
type Output struct {
	// Checksum holds the sum of all elements, the sum of their absolute values, and the number
	// of elements that are infinite or NaN, which the sums skip.
	Checksum struct {
		Sum float64 `json:"sum"`
		Abs float64 `json:"abs"`
		Bad int     `json:"bad"`
	} `json:"checksum"`
	// Error is the error against float64 on the inputs of the library, for a few rows of
	// several heads. An output with a NaN has no error.
	Error struct {
		Max  *float64 `json:"max"`
		Mean *float64 `json:"mean"`
		Rows int      `json:"rows"`
	} `json:"error"`
	// Values are the elements of O, if they were requested.
	Values []float32 `json:"-"`
}
