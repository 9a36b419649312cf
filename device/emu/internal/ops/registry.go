package ops

import "errors"

// builder returns the function that executes an instruction.
type builder func(d *decoder, x *inst) exec

var (
	builders     = map[string]builder{}
	controllers  = map[string]func(d *decoder, x *inst, o *op){}
	errNoBuilder = errors.New("not executed by the emulator")
)

// build registers the builder of an opcode.
func build(name string, b builder) { builders[name] = b }

// control registers how an instruction that the loop of the warp must know fills in its
// op: a branch, a call, or an instruction that may wait.
func control(name string, c func(d *decoder, x *inst, o *op)) { controllers[name] = c }

// Decode fills in how the machine executes an instruction.
func Decode(d *decoder, x *inst, o *op) error {
	switch {
	case controllers[x.Op.Name] != nil:
		controllers[x.Op.Name](d, x, o)
	case builders[x.Op.Name] != nil:
		o.Run = builders[x.Op.Name](d, x)
	default:
		return errNoBuilder
	}
	return nil
}
