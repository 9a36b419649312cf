// Package abi reads JSON files that describe how a kernel is called: a [kernel.Kernel]
// without its PTX. With such a file, attest can judge PTX from any compiler.
//
// A file has one of two forms. The short form describes an attention kernel that needs one
// launch. This example describes a Triton kernel. It takes e5m2 inputs without scales,
// processes 128 rows per block, and multiplies the logits by log2(e) because it computes
// powers of two:
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
// # Fields of the short form
//
//	"entry"        the name of the kernel in the PTX
//	"format"       the format of Q, K and V: e4m3, e5m2, u8, u8-legacy, f16, bf16 or f32
//	"format_q"     the format of Q, if it is not that of K and V: f16 or bf16. Q then has no
//	               factors
//	"scaling"      the factors of Q, K and V. "per-head": one float per head, [H] for Q
//	               and [Hkv] for K and V. "per-tensor": one float per tensor. "per-batch":
//	               one float per sequence and head, [B,H] and [B,Hkv]. "per-token": one
//	               float per row of each head. "per-block": one float per block of rows of
//	               each head. "per-page": one float per page of each head, [pages,Hkv],
//	               and [H] for Q. "none": no factors. The default is "per-head" for formats of
//	               one byte and "none" for the others
//	"scale_block"  two numbers, for "per-block": the rows of Q, and the rows of K and V,
//	               that share a factor
//	"bias"         the type of the operand bias: f16, bf16 or f32 (the default)
//	"mask"         the elements of the operand mask: bytes (the default) or bits
//	"rope"         the columns that rope_cos and rope_sin rotate: halves (the default) or
//	               pairs
//	"output"       the format of O: f16 (the default), bf16 or f32
//	"p"            the format to which the kernel rounds the softmax weights before it
//	               multiplies them by V: f32, f16 (the default), bf16, e4m3 or e5m2. The
//	               tolerance depends on it, so it must have at least as many bits as the
//	               inputs; f16 is also enough for f32 inputs
//	"accumulator"  the format of the sums of products: f32 (the default) or f16
//	"deterministic"
//	               false if the last bits of the output depend on the order of atomic
//	               additions. The gates then judge every output by its errors and compare no
//	               bits, and the record and the report say so. The text must have atomic
//	               operations. The default is true
//	"layout"       the layout of Q, K, V and O in memory: BHSD (the default) or BSHD
//	"causal"       true if each query sees only the keys up to its own position; the
//	               last query sees all keys. A row that sees no key is zero; a kernel that
//	               does not support them has "Sq <= Skv" in "require", and then no
//	               sequence has more queries than keys. The default is false
//	"params"       the parameters of the kernel in their order; see below
//	"grid", "block", "cluster"
//	               one to three expressions each; a dimension that is left out is 1
//	"shared"       an expression: the bytes of dynamic shared memory. The default is 0
//	"require"      a list of conditions on the shape. The kernel runs only on shapes that
//	               meet all of them. A condition is an expression, or
//	               {"holds": expression, "why": a sentence for the user}
//	"declares"     special registers, such as "%smid", and module variables that differ
//	               between launches and that the kernel reads on purpose. Such a
//	               variable must be .visible: attest restores it between launches
//
// "entry", "format", "params", "grid" and "block" are required.
//
// # Parameters
//
// A parameter is an object with exactly one of these fields:
//
//	"pointer": name
//	           the address of an operand, a multiple of 256:
//	           q, k, v, o  the tensors, in the layout of "layout". V and O have D columns, or
//	                       DV columns if an expression of the file uses DV
//	           lse         floats, [B,H,Sq]. A parameter for o or lse can have "zero": true,
//	                       for a kernel that adds to them; attest then fills them with
//	                       zeros before each launch
//	           qs, ks, vs  the factors of "scaling", floats
//	           sinks       floats, one logit per head of Q
//	           mask        bytes, [B,Sq,Skv]: a query sees the keys whose byte is not 0. With
//	                       "mask": "bits", [B,Sq,cdiv(Skv,8)]: bit j%8 of byte j/8 says
//	                       whether the query sees key j
//	           bias        [B,H,Sq,Skv]: it is added to the logits after scale and softcap;
//	                       -∞ hides the key. "bias": "f16", "bf16" or "f32" gives its type
//	           rope_cos, rope_sin
//	                       floats, [max(Sq,Skv),D/2]: the angles by which the kernel rotates
//	                       the rows of Q and K before the product, by position. Key j has
//	                       position j, query i has position i+max(0,Skv-Sq). With "rope":
//	                       "halves" angle i rotates the columns i and i+D/2, with "pairs"
//	                       the columns 2i and 2i+1
//	           workspace   memory of the kernel. It also has "bytes", an expression. Its
//	                       contents are arbitrary, unless it has "zero": true; attest
//	                       then fills it with zeros before each launch
//	           cu_seqlens_q, seqused_q, cu_seqlens_k, seqused_k, page_table, kv_indptr,
//	           kv_indices, kv_last_page_len
//	                       the lengths and places of sequences; see below
//	           k_new, v_new, cache_seqlens, slot_mapping
//	                       new rows of K and V that the kernel appends; see below
//	"u8" … "u64", "i8" … "i64": expression
//	           an integer
//	"f16", "bf16", "f32", "f64": expression
//	           a floating-point number
//	"tensormap": object
//	           a tensor map with these fields:
//	           "pointer"  the tensor: q, k, v or o
//	           "type"     the type of the elements: u8, f16, bf16, …
//	           "dims"     the extents in elements, innermost first
//	           "box"      the extents of the box in elements, innermost first
//	           "strides"  the strides in bytes of all dimensions except the innermost. By
//	                      default the tensor is contiguous
//	           "swizzle"  "none", "32B", "64B" or "128B"
//	           "fill"     the value of elements outside the tensor: "zero" or "nan"
//
// # Sequences of different lengths
//
// A kernel that takes one of these operands gets batches whose sequences differ in length.
// All of them hold numbers of the type i32.
//
//	cu_seqlens_q      [B+1]: where each sequence of Q begins, and where the last one ends.
//	                  Q and O are packed: [total_q,H,D] with the layout BSHD,
//	                  [H,total_q,D] with BHSD. The log-sum-exp is [H,total_q]
//	seqused_q         [B]: the lengths of the sequences of Q. Without cu_seqlens_q, Q and O
//	                  have room for Sq rows per sequence; what a kernel writes to the rows
//	                  after the length does not matter
//	cu_seqlens_k      [B+1]: the same for K and V, which are packed
//	seqused_k         [B]: the lengths of the sequences of K and V. Without cu_seqlens_k and
//	                  pages they have room for Skv rows per sequence
//	page_table        [B,max_pages]: the pages of each sequence. K and V lie in pages:
//	                  [pages,page_size,Hkv,D] with the layout BSHD,
//	                  [pages,Hkv,page_size,D] with BHSD. Entries after the last page of a
//	                  sequence are -1
//	kv_indptr, kv_indices, kv_last_page_len
//	                  [B+1], [kv_pages], [B]: the pages of each sequence as a list. The
//	                  entries from kv_indptr[b] up to kv_indptr[b+1] of kv_indices are the
//	                  pages of sequence b, and its last page has kv_last_page_len[b] rows
//
// Sq and Skv are the lengths of the longest sequences. Causal masks and windows are aligned so
// that the last query of a sequence stands at its last key. A sequence can be empty; a row
// that sees no key is zero, and its log-sum-exp is -∞. A kernel that does not support empty
// sequences has "min_q > 0" or "min_kv > 0" in "require". Rows after the end of a sequence, the
// rest of its last page, and pages that belong to no sequence hold NaN or any numbers. Factors of
// "per-token" lie like the rows, without D.
//
// # Kernels that append keys
//
// A kernel that takes k_new and v_new writes these rows to K and V, behind the rows that are
// already there, and then computes attention with all of them. Each sequence gets as many new rows as
// it has queries. The gates compare K and V afterwards: they must hold the new rows, and all other
// bytes must be unchanged.
//
//	k_new, v_new      the new rows, which lie like Q with Hkv heads, in the format of K
//	cache_seqlens     [B], i32: the lengths of the sequences of K and V before
//	seqused_k         [B], i32: the lengths with the new rows, as Skv and min_kv
//	slot_mapping      [B,Sq] or [total_q], i64: for each new row, the row of the pages that it is
//	                  written to: page·page_size plus the row in the page. Entries after the
//	                  end of a sequence of Q are -1
//
// # The whole form
//
// A file with "launches" describes a whole [kernel.Kernel]. It can have several launches,
// named workspaces, strides, and a list of the features that the kernel supports. [Write]
// writes this form, and so does every command that writes a kernel to a file. The fields are
// those of the Go types:
//
//	{
//	  "op": "attention", "fixed": {"D": "64", "format": "f16", "mask": "none", …},
//	  "supports": ["lse"], "require": […], "let": [{"name": "parts", "value": "4"}],
//	  "operands": [{"name": "q", "type": "f16", "role": "input", "dims": ["B", "H", "Sq", "D"]}, …],
//	  "launches": [{"entry": "split", "args": […], "grid": […], "block": […]}, …],
//	  "claims": {"p": "f16"}
//	}
//
// "fixed" has the facts for which the text was written:
//
//	D            the head dimension
//	DV           the head dimension of V and O, if it is not D. The kernel then has
//	             "head-dim-v" in "supports"
//	format       as in the short form; also output, scaling and layout
//	format_q     f16 or bf16, if Q has another format than K and V
//	scale_block  "rows of Q,rows of K and V", if scaling is per-block
//	mask         none, causal, window, buffer, or bits for a buffer of bits
//	lse, sinks   true or false
//	bias         the type of the bias, if there is one
//	rope         halves or pairs, if rows are rotated
//	queries      padded or packed, if the lengths of Q differ
//	keys         padded, packed or paged, if the lengths of K and V differ
//	strides      true, if the operands q, k, v and o have "strides" that depend on the gaps
//	             q_gap0 to o_gap2 of the problem. Strides that depend on other sizes need no fact
//
// Operands have the names of the short form; workspaces may have any name.
//
// # Expressions
//
// Package expr documents the grammar. An expression may use these names:
//
//	B, H, Hkv, Sq, Skv, D   the extents of the problem; S is another name for Sq
//	DV                      the head dimension of V and O. A short form that uses it supports
//	                        a DV other than D, as far as "require" allows
//	SMs                     the number of SMs of the device
//	BlocksPerSM             the number of blocks that fit on one SM; only in "grid"
//	scale                   the factor of the logits, a float
//	softcap                 the bound of the logits, a float; 0 is none. A kernel that
//	                        takes it as an argument supports it
//	window_left, window_right  how many keys a query sees before and after its own; -1 is
//	                        all. A kernel that takes one of them as an argument has a
//	                        sliding window, aligned so that the last query stands at the
//	                        last key
//	total_q, total_kv       the sums of the lengths of the sequences
//	min_q, min_kv           the shortest lengths
//	page_size, pages        the rows of a page, and the number of pages in memory
//	max_pages               the columns of page_table
//	kv_pages                the number of pages that belong to sequences
//	q_gap0 … o_gap2         the elements after each sequence or page (0), after each part of it
//	                        (1) and after each row of a head (2) of q, k, v and o
//	scale_block_q, scale_block_kv
//	                        the numbers of "scale_block"
//	qs, ks, vs              the scales if "scaling" is "per-tensor", floats; only in
//	                        parameters
package abi
