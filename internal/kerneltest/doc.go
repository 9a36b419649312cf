// Package kerneltest provides what the tests of all kernels need: buffers, a device to run on,
// and goldens of their PTX. Any error ends the test.
package kerneltest
