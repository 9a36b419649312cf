//go:build !amd64

package simd

// Has says whether this processor can run the loops.
const Has = false

// The loops are never called here.

func (s *Sweep) Run8()    { absent() }
func (s *Sweep) Run16()   { absent() }
func (s *Survey) Rows8()  { absent() }
func (s *Survey) Rows16() { absent() }
func (s *Survey) Cols8()  { absent() }
func (s *Survey) Cols16() { absent() }

func absent() { panic("simd: no loops for this processor") }
