// Package fp8 has the number formats of one byte: it decodes them, rounds numbers to them
// and quantises tensors.
//
// There are four formats. [E4M3] and [E5M2] are the floating-point formats of tensor cores.
// [Format.EncodeSatfinite] rounds as cvt.rn.satfinite does, and [Format.Encode] rounds as
// the OCP specification of 8-bit floats says. [U8] is an integer around 128: its value is
// (u-128)/127·448. [U8Legacy] decodes like U8 but encodes with 127.5. That is a mistake; the
// format exists because published results were obtained with it.
//
// A tensor [B,H,S,D] is quantised with one scale for all of it, for each head, or
// for each block of rows:
//
//	t, err := fp8.Quantise(fp8.E4M3, fp8.PerHead, fp8.Dims{B: 1, H: 8, S: 512, D: 64}, x)
//
// A scale is the largest magnitude of its elements divided by the format's largest number,
// so that the elements use the whole range of the format: value = Decode(byte)·scale.
//
// The package also has the 16-bit formats of inputs and outputs: [F16], [BF16] and their
// inverses.
package fp8
