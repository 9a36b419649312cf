// Package tune searches over the configurations of attention kernels: from one to its
// neighbours, which differ in one decision, always going on from the best that was
// found, until the best three have no neighbour left that was not tried.
//
// Whoever calls it says what a configuration is worth: [Trial]. One that is not green
// is worth nothing, however fast. Everything that was tried is in a [State], which is
// written after every trial; a search that was interrupted goes on from it, and does
// not try anything twice.
package tune
