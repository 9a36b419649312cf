// Package normal reduces a PTX text to its normal form, which has only what ptxas sees.
//
// Two texts with the same normal form compile to the same machine code. Comments, .loc,
// .file and debug sections are dropped. Registers and labels are renumbered in the order
// of their first use, so their names do not matter. Integers are printed in decimal.
// Names that a caller sees (entries, parameters, variables) are kept.
//
// The hash of the normal form identifies a kernel: moving a line of its Go source does
// not change the hash, changing an instruction does.
package normal
