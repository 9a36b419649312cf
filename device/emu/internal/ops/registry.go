package ops

import "errors"

// builder returns the function that executes an instruction.
type builder func(d *decoder, x *inst) exec

var (
	builders     = map[string]builder{}
	controllers  = map[string]func(d *decoder, x *inst, o *op){}
	errNoBuilder = errors.New("the emulator does not support this instruction")
)

// outside says why the emulator does not execute opcodes that are not in the table.
var outside = map[string]string{
	"tex": "textures", "tld4": "textures", "txq": "textures", "istypep": "textures and surfaces",
	"suld": "surfaces", "sust": "surfaces", "sured": "surfaces", "suq": "surfaces",
	"tcgen05": "the tensor memory of Blackwell",
}

// Outside returns an error for an opcode that the emulator knows but does not execute, or nil.
func Outside(opcode string) error {
	if what := outside[opcode]; what != "" {
		return errors.New("the emulator does not have " + what)
	}
	return nil
}

// build registers the builder of an opcode.
func build(name string, b builder) { builders[name] = b }

// control registers the controller of an opcode that the loop of the warp must know: a
// branch, a call, or an instruction that may wait. The controller fills in the whole op.
func control(name string, c func(d *decoder, x *inst, o *op)) { controllers[name] = c }

// Decode fills in o, so that the machine executes the instruction x.
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
