// Package fuzzrun implements attest fuzz: it opens the two devices that are compared, runs
// the fuzzer with a progress line, and prints the differences that it found.
package fuzzrun
