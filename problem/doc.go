// Package problem describes problems. [Attention] is the only description of an attention
// problem in this repository: its extents, mask, formats, scales and layout.
//
// Three methods of a problem decide whether a kernel can compute it, and how:
//
//	Facts  the values that a kernel's text depends on: head dimension, formats, mask
//	Uses   the features that the problem needs, all of which the kernel must support
//	Names  the sizes that the host knows when it launches: B, H, Hkv, Sq, Skv, D, DV,
//	       scale, softcap, window_left, window_right, and the sizes of a batch of sequences with
//	       different lengths: total_q, total_kv, min_q, min_kv, page_size, pages,
//	       kv_pages, max_pages, scale_block_q, scale_block_kv
//
// If a feature is added here, every kernel that does not name it refuses problems that use
// it.
package problem
