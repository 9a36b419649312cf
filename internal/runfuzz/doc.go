// Package runfuzz attacks the emulator and its checkers with PTX that is wrong in every way: it
// changes texts at random, loads what remains and runs it with all observers. Nothing that a
// text contains may make attest panic or hang.
package runfuzz
