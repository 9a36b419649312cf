// Package kerneldiff finds the first intermediate value of attention in which two kernels, or a
// kernel and the reference, differ.
//
// It needs no access to the inside of a kernel. [Observe] runs the kernel once with the real V,
// which gives O, and then once for each block of D keys with a V that is a block of the identity
// matrix: the output is then the matrix of softmax weights, P/l, for these keys. How the weights of
// a row differ tells which value went wrong: a common factor of a whole row is the row sum l, a
// common factor of all keys before a tile is the rescaling after a new maximum m, single
// weights are the logits S, and right weights with a wrong O are the product with V.
package kerneldiff
