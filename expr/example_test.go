package expr_test

import (
	"fmt"

	"github.com/GOATnote-Inc/attest/expr"
)

// A grid of one thread block per 128 queries and head, and a softmax scale for exp2.
func Example() {
	env := expr.Env{"B": expr.Int(2), "H": expr.Int(8), "Sq": expr.Int(1000), "scale": expr.Float(0.125)}

	blocks, err := expr.Must("cdiv(Sq, 128)*B*H").Int(env)
	fmt.Println(blocks, err)

	scale, err := expr.Must("scale*1.4426950408889634").Float(env)
	fmt.Println(scale, err)

	_, err = expr.Must("Sq*Heads").Int(env)
	fmt.Println(err)

	// Output:
	// 128 <nil>
	// 0.18033688011112042 <nil>
	// expression "Sq*Heads", column 4: unknown name Heads: the known names are B, H, Sq, scale
}
