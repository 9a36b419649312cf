// Package merge writes kernels that merge partial results of attention: outputs of the same
// queries over different keys, each with its log-sum-exp. Prefix sharing and sequence
// parallelism need it. With weights w_i = exp(lse_i - max lse),
//
//	O = Σ w_i·O_i / Σ w_i    LSE = max lse + ln Σ w_i
//
// A part with an LSE of -∞ has seen no key: its O is not used and may be anything. If no part
// has seen a key, O is 0 and the LSE is -∞. Sums are in f32 and run over the parts in their
// order, so the only errors are those of the inputs, of f32, and of rounding O.
package merge
