// Package tune searches over the configurations of attention kernels. It goes from a
// configuration to its neighbours, which differ in one decision, and always goes on from the
// best that it has found, until the best three have no neighbour left that was not tried.
//
// [Search] knows no kernels: its caller tries a configuration and returns a [Trial]. A
// configuration that is not green does not count, however fast it is. The [State] holds all
// trials and is written after each one. An interrupted search continues from there and tries
// nothing twice. [Driver] is the search that attest tune starts: it
// judges configurations with the smoke plan and finds their times.
package tune
