// Package problem says what is to be computed. [Attention] is the one description of an
// attention problem in this repository: its extents, masks, formats, scales and layout.
//
// A problem answers three questions for a kernel that wants to serve it:
//
//	Facts  the values that a kernel's text depends on: head dimension, formats, mask
//	Uses   the features that the problem needs; a kernel that does not name one refuses
//	Names  the sizes that the host knows when it launches: B, H, Hkv, Sq, Skv, D, scale
//
// A feature that is added here is refused by every kernel that does not know it.
package problem
