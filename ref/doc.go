// Package ref computes reference results of attention, and measures the errors of a kernel
// against them.
//
// [Attention] computes softmax(Q·Kᵀ·scale)·V in float64, from the original inputs or from the
// quantised ones. With the original inputs, the error of a kernel includes that of its
// format; with the quantised inputs it does not. For large problems, [Rows] picks some rows.
//
// [Generate] makes inputs from the name of a distribution, a seed and a shape. It gives the
// same bits on every machine. Some distributions look like activations. Others are chosen to
// find mistakes: logits that overflow a naive softmax, rows whose result must be one row of
// V, maxima that rise with every tile.
//
// [Places] says where the rows of such inputs lie in memory for a problem with packed
// sequences, pages or another layout, and what memory between them holds.
//
// [Result.Compare] measures errors: the largest, the mean, how many are too large, where the
// worst one is, and how they are distributed over batch, heads, rows and columns. [BlameKV]
// finds out whether a wrong row can be explained by a tile of K and V that was left out or
// counted twice.
package ref
