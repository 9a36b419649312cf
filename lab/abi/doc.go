// Package abi says how a kernel that computes attention is called: which parameter is
// what, in which form it takes Q, K and V and gives O, and how it is launched. With
// it PTX of any origin can be judged.
//
// It is written down as JSON. This is a kernel of Triton, which takes e5m2 without
// scales, in blocks of 128 rows, and computes with powers of two:
//
//	{
//	  "entry": "attn", "format": "e5m2", "scaling": "none", "p": "e5m2",
//	  "params": [
//	    {"pointer": "q"}, {"pointer": "k"}, {"pointer": "v"}, {"pointer": "o"},
//	    {"i32": "Sq"}, {"f32": "scale*1.4426950408889634"}, {"u64": "0"}, {"u64": "0"}
//	  ],
//	  "grid": ["cdiv(Sq, 128)", "B*H"], "block": [128], "shared": "200*1024",
//	  "require": ["D == 64", "Sq == Skv", "Sq % 128 == 0"]
//	}
//
// # Fields
//
//	"entry"    the kernel's name
//	"format"   of Q, K and V: u8, u8-legacy, e4m3, e5m2, f16 or bf16
//	"scaling"  what their values are multiplied by: "per-head" (one float a head, [H]
//	           for Q and [Hkv] for K and V), "per-tensor" (one float) or "none".
//	           Left out it is per-head for formats of one byte, else none
//	"output"   of O: f16, bf16 or f32; f16 when left out
//	"p"        what the kernel rounds the weights of the softmax to before it
//	           multiplies them with V: f32, f16, bf16, e4m3 or e5m2; f16 when left
//	           out. It decides what error is to be expected, no more
//	"layout"   of Q, K, V and O in memory, BHSD or BSHD; BHSD when left out
//	"causal"   true when keys after the query are hidden; the last query sees all
//	"params"   the parameters in their order, see below
//	"grid", "block", "cluster"  one to three expressions each; what is left out is 1
//	"shared"   bytes of dynamic shared memory, an expression; 0 when left out
//	"require"  what must hold of a shape for the kernel to serve it
//
// # Parameters
//
// A parameter is an object with exactly one of
//
//	"pointer": name    the address of q, k, v, qs, ks, vs (floats), o, lse (floats,
//	                   [B,H,Sq]) or workspace, which also has "bytes", an
//	                   expression, and perhaps "zero": true if it must be zeroed
//	                   before a launch; otherwise it is poisoned
//	"u8" … "u64", "i8" … "i64": expression
//	"f16", "f32", "f64": expression, which may have fractions and scale
//	"tensormap": {…}   "pointer" says of what; "type" (u8, f16, bf16, …), "dims" and
//	                   "box" in elements, innermost first, "strides" in bytes of all
//	                   but the innermost (packed when left out), "swizzle" ("none",
//	                   "32B", "64B", "128B") and "fill" ("zero" or "nan")
//
// # Expressions
//
// Strings, or plain numbers: + - * / % and parentheses, min(a, b, …), max(a, b, …),
// cdiv(a, b), which is a/b rounded up, and comparisons (== != < <= > >=) in "require".
// Integers are of 64 bits, / rounds towards zero, and overflow is an error. Names are
//
//	B, H, Hkv, Sq, Skv, D   the extents; S is Sq
//	SMs, BlocksPerSM        of the device, and how many blocks of the kernel one holds
//	scale                   what logits are multiplied by, 1/√D; of floats only
//	qs, ks, vs              the scales, with "per-tensor"; of floats only
package abi
