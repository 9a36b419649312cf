// Package abi describes how a kernel that computes attention is called: what each
// parameter is, the formats of Q, K, V and O, and the launch. With such a description,
// attest can judge PTX of any origin.
//
// The description is a JSON file. This one is for a Triton kernel that takes e5m2
// without scales, has tiles of 128 rows, and computes the softmax with powers of two:
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
//	"scaling"  the scales that multiply their values: "per-head" (one float per head,
//	           [H] for Q and [Hkv] for K and V), "per-tensor" (one float) or "none".
//	           The default is per-head for formats of one byte and none for others
//	"output"   of O: f16, bf16 or f32; by default f16
//	"p"        the format to which the kernel rounds the softmax weights before it
//	           multiplies them with V: f32, f16, bf16, e4m3 or e5m2; by default f16.
//	           It sets the tolerance of the results and nothing else
//	"layout"   of Q, K, V and O in memory: BHSD or BSHD; by default BHSD
//	"causal"   true if a query does not see later keys; the last query sees all keys
//	"params"   the parameters in their order, see below
//	"grid", "block", "cluster"  one to three expressions each; missing ones are 1
//	"shared"   the size of the dynamic shared memory in bytes; by default 0
//	"require"  conditions that a shape must meet; the kernel serves no other shape
//
// # Parameters
//
// A parameter is an object with exactly one of
//
//	"pointer": name    the address of q, k, v, qs, ks, vs (floats), o, lse (floats,
//	                   [B,H,Sq]) or workspace. A workspace also has "bytes", an
//	                   expression, and "zero": true if it must be zeroed before each
//	                   launch; otherwise it is filled with NaNs
//	"u8" … "u64", "i8" … "i64": expression
//	"f16", "f32", "f64": expression, computed with floats
//	"tensormap": {…}   a tensor map of the operand "pointer", with "type" (u8, f16,
//	                   bf16, …), "dims" and "box" in elements, innermost first,
//	                   "strides" in bytes of all but the innermost (contiguous by
//	                   default), "swizzle" ("none", "32B", "64B", "128B") and "fill"
//	                   ("zero" or "nan")
//
// # Expressions
//
// An expression is a string or a number. Package expr describes the operators. The
// names are
//
//	B, H, Hkv, Sq, Skv, D   the sizes of the problem; S is Sq
//	SMs, BlocksPerSM        the multiprocessors of the device, and how many thread
//	                        blocks of the kernel run on one of them at a time
//	scale                   the factor of the logits, 1/√D; a float
//	qs, ks, vs              the scales of Q, K and V with "per-tensor"; floats
package abi
