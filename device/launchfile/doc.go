// Package launchfile reads launch files and runs them: kernel launches written
// down as JSON, with their inputs and the outputs they must give.
//
// A launch file is one launch, or a list of launches that run one after the other:
//
//	{
//	  "entry": "saxpy", "grid": [4, 1, 1], "block": [256, 1, 1],
//	  "cluster": [1, 1, 1], "shared": 0,
//	  "params": [
//	    {"buffer": "x.bin"},
//	    {"buffer": "y.bin", "expect": "out.bin", "type": "f32", "ulp": 1},
//	    {"f32": 2.5},
//	    {"u32": 1024}
//	  ]
//	}
//
// entry and params are what the kernel says. Extents are lists of one to three
// numbers; what is left out is 1. shared is the bytes of dynamic shared memory.
// "cooperative": true demands that all blocks run at once, which a barrier of the grid
// needs.
//
// # Parameters
//
// A parameter is an object with exactly one of
//
//	"buffer": "file"   a device buffer with the bytes of a file
//	"zeros": n         a device buffer of n bytes, all 0
//	"poison": n        a device buffer of n bytes, all 0xff: NaN in every type
//	"ref": "name"      a buffer that an earlier parameter gave a "name"
//	"i8" … "i64", "u8" … "u64", "f16", "bf16", "f32", "f64": value
//	"bytes": "hex"     the parameter's own bytes, for structures
//	"tensormap": {…}   see below
//
// A value is a number, or a string: hexadecimal bits "0x7fc00000" of any type, and
// "nan", "inf", "-inf" of floats.
//
// A buffer may further have
//
//	"name": "s"        to be the same buffer in later parameters, by "ref"
//	"expect": "file"   what it must hold after the launch, all of it
//	"type": "f32"      how to count and show its elements; "u8" when left out. Also
//	                   e4m3 and e5m2
//	"abs": x, "rel": y an element may differ by x + y·|expected|
//	"ulp": n           or by n representable numbers of its type
//	"save": "file"     where to write what it holds after the launch
//
// Without abs, rel and ulp elements must have the same bits. With any of them, all
// NaNs are equal, and an infinity equals itself alone.
//
// Files are named relative to the launch file. They are bytes, except that a name
// that ends in a type and .txt, as x.f32.txt, is text: values of that type between
// white space, each perhaps repeated, 0*32, or a range of integers, 0..31. A # starts
// a comment. x.hex.txt is bytes in hexadecimal.
//
// # Tensor maps
//
//	{"tensormap": {
//	  "type": "f32",         u8, u16, u32, i32, u64, i64, f16, bf16, f32, f64 or tf32
//	  "buffer": 1,           the number of a parameter, from 0, that is a buffer; or a
//	                         file; or a buffer that is no parameter, {"zeros": 4096}
//	  "dims": [64, 32],      elements, innermost dimension first
//	  "strides": [256],      bytes, of all but the innermost; packed when left out
//	  "box": [64, 8],        elements of a tile
//	  "steps": [1, 1],       element strides; ones when left out
//	  "swizzle": "128B",     or "none", "32B", "64B"
//	  "fill": "zero"         or "nan": what is read out of bounds
//	}}
package launchfile
