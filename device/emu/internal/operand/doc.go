// Package operand turns the operands of an instruction into registers of the machine:
// slots of a frame's register files, cells that loads and stores move, and addresses.
package operand
