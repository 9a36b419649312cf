// Package part holds the parts of an attention kernel that do not depend on the
// architecture: which work a block does, which keys a row sees, the softmax, and how
// results are stored. A kernel family adds a loader and a loop:
//
//	work     Work deals tiles of query rows out over the blocks of a grid
//	scales   Scales reads the factors of Q, K and V, one per head
//	mask     Mask hides keys from rows, and says which KV tiles an item needs
//	softmax  Softmax turns scores into weights, tile by tile, with running row sums
//	weigh    Weigh merges softmaxes of the same rows over different keys
//	exp2     [Exp2] computes powers of two on the special function units or the FMA units
//	parts    SumParts merges results of the same rows over different keys
//	output   Output rounds and stores rows of O; LSE stores their log-sum-exp
//
// A part gets the kernel builder and plain values. It never waits and never signals:
// every barrier, product and hand-over stands in the loop of the kernel that uses it.
//
// # The maths
//
// With scores S = Q·Kᵀ and c = log₂e·scale·qs·ks, a logit to base 2 is c·S. A row's
// weights are P = 2^(c·S - c·m + lift), where m is a maximum of the row's scores. The
// lift multiplies P by a power of two so that a narrow format's range is used. It cancels
// in the normalised output O = vs·(P·V)/l with the row sum l = ΣP.
//
// The parts hold m as the shift lift - c·m, so that a weight is one fma and one
// exponential. Every operation names its rounding, so that no compiler fuses a product
// with a sum and every device gives the same bits.
package part
