// Package chips holds what attest knows of GPUs, as data: one JSON file per chip.
//
// Every number has a source and a basis. "measured" means measured on this chip by attest,
// "published" means read in a publication about the chip or its architecture, "derived" means
// computed from such numbers or carried over from another chip, and "assumed" means a guess that
// waits for a measurement. A prediction is less certain if its numbers are not measured.
package chips
