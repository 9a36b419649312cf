package shapes

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/GOATnote-Inc/attest/internal/term"
	"github.com/GOATnote-Inc/attest/problem"
)

// List is the value of a flag that takes several shapes.
type List []problem.Named

// Set adds the shapes of a text. Shapes are separated by commas, semicolons or spaces:
// "mission,1,8,100,64" is two shapes.
func (l *List) Set(text string) error {
	words := strings.FieldsFunc(text, func(r rune) bool { return r == ';' || r == ' ' })
	for _, word := range words {
		parts := strings.Split(word, ",")
		for len(parts) > 0 {
			n := 1
			if _, err := strconv.Atoi(parts[0]); err == nil {
				n = min(4, len(parts))
			}
			s, err := Parse(strings.Join(parts[:n], ","))
			if err != nil {
				return err
			}
			*l, parts = append(*l, s), parts[n:]
		}
	}
	return nil
}

func (l *List) String() string { return strings.Join(l.Titles(), ";") }

// Titles returns the title of each shape.
func (l List) Titles() []string {
	names := []string{}
	for _, n := range l {
		names = append(names, Title(n))
	}
	return names
}

// Type names the value in the help of a flag.
func (l *List) Type() string { return "shapes" }

// One is the value of a flag that takes one shape.
type One struct{ problem.Named }

// Set replaces the shape.
func (o *One) Set(text string) (err error) {
	o.Named, err = Parse(text)
	return err
}

func (o *One) String() string {
	if o.Shape == (problem.Shape{}) {
		return ""
	}
	return Title(o.Named)
}

// Type names the value in the help of a flag.
func (o *One) Type() string { return "shape" }

// Parse reads one shape and keeps its name.
func Parse(text string) (problem.Named, error) {
	s, err := problem.ParseShape(text)
	if err != nil {
		if near := term.Nearest(text, Names()); near != "" && !strings.Contains(text, ",") {
			return problem.Named{}, fmt.Errorf("there is no shape %q; did you mean %q?", text, near)
		}
		return problem.Named{}, err
	}
	n := problem.Named{Shape: s}
	if slices.Contains(Names(), text) {
		n.Name = text
	}
	return n, nil
}

// Names returns the names of shapes.
func Names() (names []string) {
	for _, n := range problem.Shapes() {
		names = append(names, n.Name)
	}
	return names
}

// Title returns the name of a shape, or its extents when it has none.
func Title(n problem.Named) string {
	if n.Name != "" {
		return n.Name
	}
	return n.Shape.String()
}

// Long returns the name of a shape with its extents: "mission (1,8,512,64)".
func Long(n problem.Named) string {
	if n.Name != "" {
		return fmt.Sprintf("%s (%v)", n.Name, n.Shape)
	}
	return n.Shape.String()
}

// Help returns what the value of a flag for shapes looks like. Explanation says more.
const Help = "B,H,S,D or a name"

// Explanation returns the paragraph about shapes for the help of every command that takes
// one.
func Explanation() string {
	return `A shape is B,H,S,D: batch, heads, sequence length and head dimension, as in 1,8,512,64. H may
be Hq/Hkv, the heads of Q and the heads of K and V, and S may be Sq/Skv, the number of queries
and the number of keys, as in 1,32/4,512/2048,128. D may be D/DV, the head dimension of Q and K
and that of V and O, as in 1,16,4096,192/128. These shapes have names:
` + strings.Join(Names(), ", ") + "."
}

// HeadDim is the value of a flag that takes a head dimension.
type HeadDim struct{ To *problem.HeadDim }

// Set replaces the head dimension.
func (h HeadDim) Set(text string) (err error) {
	*h.To, err = problem.ParseHeadDim(text)
	return err
}

func (h HeadDim) String() string {
	if h.To == nil || h.To.D == 0 {
		return ""
	}
	return h.To.String()
}

// Type names the value in the help of a flag.
func (h HeadDim) Type() string { return "D" }

// Default returns mission, for heads of a dimension; zero is mission's own.
func Default(h problem.HeadDim) problem.Named {
	n := problem.Named{Name: "mission", Shape: problem.Square(1, 8, 512, 64)}
	if h.D != 0 && h != n.Shape.HeadDim() {
		n.Name, n.Shape = "", n.Shape.WithHeadDim(h)
	}
	return n
}
