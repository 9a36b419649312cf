// Package tune searches over the configurations of attention kernels. It goes from a
// configuration to its neighbours, which differ in one decision, and always goes on from the
// best that it has found, until the best three have no neighbour left that was not tried.
//
// [Search] knows no kernels: its caller says what a configuration is worth, as a [Trial]. A
// configuration that is not green is worth nothing, however fast. Everything that was tried
// is in a [State], which is written after every trial. A search that was interrupted goes on
// from there and tries nothing twice. [Driver] is the search that attest tune starts: it
// judges configurations with the smoke plan and finds their times.
package tune
