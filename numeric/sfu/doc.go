// Package sfu computes the approximate functions of PTX (ex2, lg2, rcp, rsqrt,
// sqrt, sin, cos, tanh with .approx) to the bit, as the special function unit does.
//
// The unit looks three coefficients up by the top bits of the significand and
// evaluates C0 + C1·x + C2·x² in fixed point, with a squarer that leaves out the
// low columns of its partial products. The structure is described in the public
// project bcarlet/ptx-math, for sm_5x to sm_7x; tanh turned out to have it too. The
// coefficients were solved from the results of an H200 by the program in solve,
// which any card's results can be fed to again.
package sfu
