// Package sorted sorts slices and the keys of maps.
//
// The functions of the package slices are compiled again for each element type in each package
// that calls them, about ten functions at a time. The functions of this package hand the work
// to the package sort, which is compiled once. They are for lists that a person could read:
// use slices where sorting must be fast.
package sorted
