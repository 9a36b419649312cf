package difffuzz

import (
	"bytes"
	"fmt"
)

// Difference describes how the results of two devices differ.
type Difference struct {
	// Kind is "bits", "fault", "hang", "refused" or "crash". In a crash, the compiler of the
	// other device crashed.
	Kind string
	Place
	// Reference and Other are the bits or the errors of the two devices.
	Reference, Other string
	// Count is the number of words of the outputs that differ.
	Count int
}

func (d *Difference) String() string {
	if d.Kind != "bits" {
		return fmt.Sprintf("%s: reference: %s; other: %s", d.Kind, orNone(d.Reference), orNone(d.Other))
	}
	at := d.What
	if d.What[0] != '%' {
		at = fmt.Sprintf("%s, byte %d", d.What, d.Offset)
	}
	who := fmt.Sprintf("block %d", d.Block)
	if d.Thread >= 0 {
		who += fmt.Sprintf(", thread %d (lane %d)", d.Thread, d.Thread%32)
	}
	return fmt.Sprintf("%s of %s: reference %s, other %s; words that differ: %d", at, who, d.Reference, d.Other, d.Count)
}

func orNone(s string) string {
	if s == "" {
		return "no error"
	}
	return s
}

// compare returns the difference of two outcomes, or nil. A fault on both devices counts as
// a difference, because no generated kernel should fault.
func (k *Kernel) compare(ref, other *Outcome) *Difference {
	switch {
	case ref.Hung != other.Hung:
		return &Difference{Kind: "hang", Reference: ref.Fault, Other: other.Fault}
	case ref.Fault != "" || other.Fault != "":
		return &Difference{Kind: "fault", Reference: ref.Fault, Other: other.Fault}
	}
	l := k.layout()
	out, first := countDiffering(ref.Out, other.Out)
	mem, firstMem := countDiffering(ref.Mem, other.Mem)
	d := &Difference{Kind: "bits", Count: out + mem}
	switch {
	case out > 0:
		d.Place = k.place(l, first)
		d.Reference, d.Other = hexWord(ref.Out, first), hexWord(other.Out, first)
	case mem > 0:
		d.Place = k.memPlace(firstMem)
		d.Reference, d.Other = hexWord(ref.Mem, firstMem), hexWord(other.Mem, firstMem)
	default:
		return nil
	}
	return d
}

// countDiffering returns the number of 8-byte words that differ, and the offset of the
// first.
func countDiffering(a, b []byte) (n, first int) {
	first = -1
	for at := 0; at < max(len(a), len(b)); at += 8 {
		if !bytes.Equal(word(a, at), word(b, at)) {
			if n++; first < 0 {
				first = at
			}
		}
	}
	return n, first
}

func word(b []byte, at int) []byte { return b[min(at, len(b)):min(at+8, len(b))] }

// hexWord returns the word at an offset in hexadecimal, highest digit first.
func hexWord(b []byte, at int) string {
	s := "0x"
	w := word(b, at)
	for i := range w {
		s += fmt.Sprintf("%02x", w[len(w)-1-i])
	}
	return s
}
