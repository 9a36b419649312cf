// Package sfu computes the approximate functions of PTX (ex2, lg2, rcp, rsqrt, sqrt, sin, cos
// and tanh with .approx) with the same bits as the special function unit of a GPU.
//
// The unit selects three coefficients by the top bits of the significand and evaluates
// C0 + C1·x + C2·x² in fixed point. Its squarer omits the low columns of the partial
// products. The public project bcarlet/ptx-math describes this structure for sm_5x to sm_7x.
// tanh has the same structure. The program in solve computed the coefficients from the
// results of an H200. It can be run on the results of any GPU.
package sfu
