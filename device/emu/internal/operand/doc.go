// Package operand translates the operands of an instruction for the machine: into slots of
// a frame's registers, cells that loads and stores move, and addresses.
package operand
