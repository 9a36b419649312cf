package main

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/spf13/cobra"

	"github.com/GOATnote-Inc/attest/internal/term"
	"github.com/GOATnote-Inc/attest/problem"
)

// shapeList is a flag value: names and extents with commas, "mission,1,8,100,64".
type shapeList []problem.Named

// Set adds the shapes of a text.
func (l *shapeList) Set(text string) error {
	words := strings.FieldsFunc(text, func(r rune) bool { return r == ';' || r == ' ' })
	for _, word := range words {
		parts := strings.Split(word, ",")
		for len(parts) > 0 {
			n := 1
			if _, err := strconv.Atoi(parts[0]); err == nil {
				n = min(4, len(parts))
			}
			s, err := parseShape(strings.Join(parts[:n], ","))
			if err != nil {
				return err
			}
			*l, parts = append(*l, s), parts[n:]
		}
	}
	return nil
}

func (l *shapeList) String() string { return strings.Join(l.titles(), ";") }

// titles are the shapes as people call them.
func (l shapeList) titles() []string {
	names := []string{}
	for _, n := range l {
		names = append(names, shapeTitle(n))
	}
	return names
}

// Type names the value in a flag's help.
func (l *shapeList) Type() string { return "shapes" }

// parseShape reads one shape, and keeps its name.
func parseShape(text string) (problem.Named, error) {
	s, err := problem.ParseShape(text)
	if err != nil {
		if near := term.Nearest(text, shapeNames()); near != "" && !strings.Contains(text, ",") {
			return problem.Named{}, fmt.Errorf("no shape %q; did you mean %q?", text, near)
		}
		return problem.Named{}, err
	}
	n := problem.Named{Shape: s}
	if slices.Contains(shapeNames(), text) {
		n.Name = text
	}
	return n, nil
}

func shapeNames() (names []string) {
	for _, n := range problem.Shapes() {
		names = append(names, n.Name)
	}
	return names
}

// shapeTitle is a shape as people call it.
func shapeTitle(n problem.Named) string {
	if n.Name != "" {
		return n.Name
	}
	return n.Shape.String()
}

// shapesHelp is what may be given.
const shapesHelp = "B,H,S,D or a name: small, mission, mission256, long, big64, big128, huge64, huge128"

// shapeFlag adds a flag of one shape.
func shapeFlag(c *cobra.Command, to *string, value, what string) {
	c.Flags().StringVar(to, "shape", value, what+": "+shapesHelp)
	complete(c, "shape", shapeNames()...)
}

// shapesFlag adds a flag of several shapes.
func shapesFlag(c *cobra.Command, to *shapeList, what string) {
	c.Flags().Var(to, "shapes", what+": "+shapesHelp+"; several with commas")
	complete(c, "shapes", shapeNames()...)
}

// defaultShape is mission, for heads of a dimension.
func defaultShape(d int) problem.Named {
	n := problem.Named{Name: "mission", Shape: problem.Square(1, 8, 512, 64)}
	if d != 0 && d != n.Shape.D {
		n.Name, n.Shape.D = "", d
	}
	return n
}
