// Package fp8 is numbers of one byte: what they stand for, how numbers are rounded
// to them, and how tensors are quantised.
//
// There are four formats. [E4M3] and [E5M2] are the floating-point ones of tensor
// cores; [Format.EncodeSatfinite] rounds as cvt.rn.satfinite does and
// [Format.Encode] as IEEE 754 and the OCP specification of 8-bit floats have it.
// [U8] is whole numbers around 128, so that value = (u-128)/127·448. [U8Legacy]
// decodes like it but encodes with 127.5: a mistake that is kept because results
// were once obtained with it.
//
// A tensor [B,H,S,D] is quantised with one scale for all of it, for each head, or
// for each block of rows:
//
//	t, err := fp8.Quantise(fp8.E4M3, fp8.PerHead, fp8.Dims{B: 1, H: 8, S: 512, D: 64}, x)
//
// A scale is the largest magnitude over the format's largest number, so a tensor
// fills its format; value = Decode(byte)·scale.
//
// The 16-bit formats that attention starts from and ends in are here too: [F16],
// [BF16] and their inverses.
package fp8
