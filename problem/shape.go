package problem

import (
	"fmt"
	"strconv"
	"strings"

	"github.com/GOATnote-Inc/attest/fp8"
	"github.com/GOATnote-Inc/attest/internal/english"
)

// Shape holds the extents of an attention problem. Q is [B,Hq,Sq,D], K is [B,Hkv,Skv,D], V is
// [B,Hkv,Skv,DV] and O is [B,Hq,Sq,DV]. Hq/Hkv neighbouring heads of Q share one head of K and V.
type Shape struct {
	B, Hq, Hkv, Sq, Skv, D int
	// DV is the head dimension of V and O. 0 is D, so that shapes with one head dimension have one
	// form. Use DimV to read it.
	DV int
}

// Square returns the shape in which Q, K and V are all [B,H,S,D].
func Square(b, h, s, d int) Shape { return Shape{B: b, Hq: h, Hkv: h, Sq: s, Skv: s, D: d} }

// Named is a shape with a name.
type Named struct {
	Name  string
	Shape Shape
}

// Shapes are the named shapes, small ones first.
func Shapes() []Named {
	return []Named{
		{"small", Square(1, 1, 32, 64)},
		{"mission", Square(1, 8, 512, 64)},
		{"mission256", Square(2, 8, 256, 64)},
		{"long", Square(1, 8, 2048, 64)},
		{"big64", Square(4, 32, 4096, 64)},
		{"big128", Square(4, 16, 4096, 128)},
		{"huge64", Square(2, 32, 16384, 64)},
		{"huge128", Square(2, 16, 16384, 128)},
	}
}

// ParseShape reads the name of a shape or its extents: "B,H,S,D", where H may be
// "Hq/Hkv", S "Sq/Skv" and D "D/DV". A shape that is refused for one size has the others.
func ParseShape(text string) (Shape, error) {
	var names []string
	for _, n := range Shapes() {
		if n.Name == text {
			return n.Shape, nil
		}
		names = append(names, n.Name)
	}
	parts := strings.Split(text, ",")
	if len(parts) != 4 {
		return Shape{}, fmt.Errorf("no shape %q: give B,H,S,D (H may be Hq/Hkv, S may be Sq/Skv, D may be D/DV) or one of %s", text, strings.Join(names, ", "))
	}
	var s Shape
	for i, into := range [][2]*int{{&s.B, nil}, {&s.Hq, &s.Hkv}, {&s.Sq, &s.Skv}} {
		if err := parseExtent(strings.TrimSpace(parts[i]), into); err != nil {
			return Shape{}, fmt.Errorf("shape %q: %w", text, err)
		}
	}
	heads, err := ParseHeadDim(parts[3])
	if err != nil {
		return s, fmt.Errorf("shape %q: %w", text, err)
	}
	s = s.WithHeadDim(heads)
	return s, s.Check()
}

// parseExtent reads "n", or "n/m" for an extent that has two numbers.
func parseExtent(text string, into [2]*int) error {
	q, kv, two := strings.Cut(text, "/")
	if two && into[1] == nil {
		return fmt.Errorf("%q: Q, K and V have the same batch", text)
	}
	if !two {
		kv = q
	}
	for i, t := range []string{q, kv} {
		if into[i] == nil {
			continue
		}
		n, err := strconv.Atoi(t)
		if err != nil {
			return fmt.Errorf("%q is not a number", t)
		}
		*into[i] = n
	}
	return nil
}

// String returns the form that ParseShape reads.
func (s Shape) String() string {
	return fmt.Sprintf("%d,%s,%s,%s", s.B, both(s.Hq, s.Hkv), both(s.Sq, s.Skv), s.HeadDim())
}

// both returns one number, or two as "n/m" if they differ.
func both(n, m int) string {
	if n == m {
		return strconv.Itoa(n)
	}
	return fmt.Sprintf("%d/%d", n, m)
}

// MarshalText returns what String returns.
func (s Shape) MarshalText() ([]byte, error) { return []byte(s.String()), nil }

// UnmarshalText reads what ParseShape reads.
func (s *Shape) UnmarshalText(text []byte) (err error) {
	*s, err = ParseShape(string(text))
	return err
}

// Q returns the extents of Q.
func (s Shape) Q() fp8.Dims { return fp8.Dims{B: s.B, H: s.Hq, S: s.Sq, D: s.D} }

// K returns the extents of K.
func (s Shape) K() fp8.Dims { return fp8.Dims{B: s.B, H: s.Hkv, S: s.Skv, D: s.D} }

// V returns the extents of V.
func (s Shape) V() fp8.Dims { return fp8.Dims{B: s.B, H: s.Hkv, S: s.Skv, D: s.DimV()} }

// O returns the extents of O.
func (s Shape) O() fp8.Dims { return fp8.Dims{B: s.B, H: s.Hq, S: s.Sq, D: s.DimV()} }

// DimV returns the head dimension of V and O.
func (s Shape) DimV() int { return s.HeadDim().V() }

// HeadKV returns the head of K and V that a head of Q uses.
func (s Shape) HeadKV(h int) int { return h / (s.Hq / s.Hkv) }

// FLOP returns the number of floating-point operations of the two products,
// 2·B·Hq·Sq·Skv·(D+DV).
func (s Shape) FLOP() float64 {
	return 2 * float64(s.B) * float64(s.Hq) * float64(s.Sq) * float64(s.Skv) * float64(s.D+s.DimV())
}

// Check returns an error if an extent is not allowed.
func (s Shape) Check() error {
	for _, d := range []fp8.Dims{s.Q(), s.K(), s.V(), s.O()} {
		if err := d.Check(); err != nil {
			return fmt.Errorf("shape %v: %w", s, err)
		}
	}
	if s.Hq%s.Hkv != 0 {
		return fmt.Errorf("shape %v: %s of Q cannot share %s of K and V evenly: Hq must be a multiple of Hkv", s, english.Count(s.Hq, "head"), english.Count(s.Hkv, "head"))
	}
	return nil
}
