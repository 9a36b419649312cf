// Package isa is the table of PTX instructions: for each form of an opcode its
// modifiers, operands and types, and the least PTX version and architecture it
// needs. One file holds one family.
//
// The table serves everything that must know an instruction: ptx/verify checks
// programs against it, build generates its constructors from it, the emulator
// is complete when it executes all of it. [Lookup] finds the forms an opcode can
// be; [Resolve] decides for one with its operands.
package isa
