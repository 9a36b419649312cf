// Package launchfile reads and runs launch files: JSON files that describe kernel launches,
// their inputs and their expected outputs.
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
// entry names the kernel, and params lists its parameters in their order. grid, block
// and cluster are lists of one to three numbers; missing ones are 1. shared is the size
// of the dynamic shared memory in bytes. "cooperative": true demands that all thread
// blocks run at the same time, as a grid-wide barrier needs.
//
// # Parameters
//
// A parameter is an object with exactly one of
//
//	"buffer": "file"   a device buffer with the bytes of a file
//	"zeros": n         a device buffer of n bytes, all 0
//	"poison": n        a device buffer of n bytes, all 0xff: NaN in every type. Checkers warn
//	                   of kernels that read what they have not written. With "undefined": true
//	                   this is an error, as it is for "zeros" with "undefined": true
//	"ref": "name"      the buffer with this "name", of an earlier parameter or of "buffers";
//	                   "offset": n adds n bytes to its address
//	"global": "name"   the address of a variable of the module; "offset" as above
//	"function": "name" the address of a device function of the module, on the emulator: the
//	                   CUDA driver does not tell it
//	"i8" … "i64", "u8" … "u64", "f16", "bf16", "f32", "f64": value
//	"bytes": "hex"     the bytes of the parameter itself, for structures; "pointers" and
//	                   "tensormaps" as below
//	"tensormap": {…}   see below
//
// A value is a number or a string. A string holds hexadecimal bits, as "0x7fc00000",
// for any type, or "nan", "inf" or "-inf" for a float.
//
// A buffer may also have
//
//	"name": "s"        a name by which later parameters use it with "ref"
//	"expect": "file"   the content that the whole buffer must have after the launch
//	"type": "f32"      the type of its elements, by default "u8". Buffers also allow
//	                   e4m3 and e5m2
//	"abs": x, "rel": y an element may differ by x + y·|expected|
//	"ulp": n           or by n representable numbers of its type
//	"save": "file"     the file to which its content is written after the launch
//	"pointers": […]    addresses that are written into it before the launch
//
// Without abs, rel and ulp, elements must have the same bits. With any of them, all
// NaNs are equal, and an infinity equals only itself.
//
// # Addresses inside memory
//
// A list or a structure of pointers is a buffer, or the "bytes" of a parameter, with addresses
// in it. Each has the byte at which it stands, and one of "ref", "global" and "function":
//
//	{"zeros": 16, "name": "node", "pointers": [
//	  {"at": 0, "ref": "data", "offset": 64},
//	  {"at": 8, "ref": "node"}
//	]}
//
// "buffers" of a launch are buffers that are not parameters, by their names. "globals" sets
// variables of the module before the launch, by their names, and compares them afterwards. A
// variable has a content ("buffer", "zeros", "poison", "bytes" or a value) or keeps what it
// holds:
//
//	"buffers": {"data": {"buffer": "x.bin"}},
//	"globals": {
//	  "factor": {"f32": 2.5},
//	  "table":  {"buffer": "table.bin", "expect": "after.bin"},
//	  "op":     {"pointers": [{"at": 0, "function": "square"}]}
//	}
//
// Named buffers live until the last launch. "module": "other.ptx" of a launch names the PTX
// file with its entry, if it is not the file of the command.
//
// # Files
//
// File names are relative to the launch file. A file holds bytes, unless its name ends
// in a type and .txt. x.f32.txt is text: values of that type, separated by white space.
// 0*32 repeats a value, and 0..31 is a range of integers. A # starts a comment.
// x.hex.txt holds bytes in hexadecimal.
//
// # Tensor maps
//
//	{"tensormap": {
//	  "type": "f32",         u8, u16, u32, i32, u64, i64, f16, bf16, f32, f64 or tf32
//	  "buffer": 1,           the index of a parameter, from 0, that is a buffer; or a
//	                         file; or a buffer that is not a parameter, {"zeros": 4096}
//	  "dims": [64, 32],      elements, innermost dimension first
//	  "strides": [256],      bytes, of all but the innermost; contiguous by default
//	  "box": [64, 8],        elements of a tile
//	  "steps": [1, 1],       element strides, by default 1
//	  "swizzle": "128B",     or "none", "32B", "64B"
//	  "fill": "zero"         or "nan": the value of elements out of bounds
//	}}
//
// A structure, the "bytes" of a parameter, may hold tensor maps too. Each has the byte at which it stands, and its buffer
// is one with a name:
//
//	{"bytes": "00…", "tensormaps": [
//	  {"at": 64, "type": "u8", "buffer": {"ref": "q"}, "dims": [64, 32], "box": [64, 8]}
//	]}
//
// A tensor map for im2col copies has this instead of a box:
//
//	"im2col": {
//	  "lower": [-1, -1],     the first corner of the bounding box, in width, height and depth,
//	                         relative to the first pixel
//	  "upper": [-1, -1],     the last corner, relative to the last pixel
//	  "channels": 8,         elements of each pixel
//	  "pixels": 64           pixels of a copy
//	}
package launchfile
