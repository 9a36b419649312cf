// Package isa is the table of PTX instructions. For each form of an opcode it lists the
// modifiers, operands and types, and the oldest PTX version and architecture that support it.
// Each file holds one family of instructions.
//
// Other packages use the table as their only source: ptx/verify checks programs against it,
// build generates its constructors from it, and the emulator is complete when it executes
// every entry. [Lookup] returns the forms that an opcode can have; [Resolve] uses the operands
// to choose one.
package isa
