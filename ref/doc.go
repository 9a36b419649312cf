// Package ref is what attention ought to give, and how far something is from it.
//
// [Attention] computes softmax(Q·Kᵀ·scale)·V in float64, over the numbers one
// started from or over the quantised ones. The first tells how good a kernel is with
// its format, the second how good it is for its format. Where that is too much work,
// [Rows] picks some rows.
//
// [Generate] makes inputs: a named distribution, a seed and a shape, and from them
// the same bits on every machine. Some distributions look like activations, others
// provoke: logits that overflow a naive softmax, rows that must come out as one row
// of V, maxima that rise with every tile.
//
// [Result.Compare] measures errors: the largest, the mean, how many are too large,
// where the worst one is, and how they lie over batch, heads, rows and columns.
// [BlameKV] asks whether a wrong row is a right one with a tile of K and V left out
// or counted twice.
package ref
