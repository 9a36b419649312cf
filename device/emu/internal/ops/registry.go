package ops

import "errors"

// builder returns the function that executes an instruction.
type builder func(d *decoder, x *inst) exec

var (
	builders     = map[string]builder{}
	controllers  = map[string]func(d *decoder, x *inst, o *op){}
	errNoBuilder = errors.New("the emulator does not support this instruction")
)

// build registers the builder of an opcode.
func build(name string, b builder) { builders[name] = b }

// control registers the controller of an opcode that the loop of the warp must know: a
// branch, a call, or an instruction that may wait. The controller fills in the whole op.
func control(name string, c func(d *decoder, x *inst, o *op)) { controllers[name] = c }

// Decode fills in o, so that the machine executes the instruction x.
func Decode(d *decoder, x *inst, o *op) error {
	if why := NotExecuted(x.Match.Form.Family.Name); why != "" {
		return errors.New("the emulator does not execute it: " + why)
	}
	switch {
	case controllers[x.Op.Name] != nil:
		controllers[x.Op.Name](d, x, o)
	case builders[x.Op.Name] != nil:
		o.Run = builders[x.Op.Name](d, x)
	default:
		return errNoBuilder
	}
	if o.Kind == 0 && o.Run == nil {
		return errNoBuilder
	}
	return nil
}
