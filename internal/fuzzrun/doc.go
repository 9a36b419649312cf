// Package fuzzrun is the campaign of attest fuzz: it opens the two devices that are
// compared, runs the fuzzer with a line of progress, and prints what it found.
package fuzzrun
