// Package runfuzz attacks the emulator and its checkers with PTX and launch files that are wrong in
// every way: it changes texts at random, loads what remains and runs it with all observers. Nothing
// that a text contains may make attest panic or hang.
//
// A mutant depends only on its seed and on the texts that mutants are made of. A campaign runs the
// mutants of consecutive seeds on several processors for a given time:
//
//	CGO_ENABLED=0 go test -c -o bin/runfuzz.test ./internal/runfuzz
//	cd internal/runfuzz && ../../bin/runfuzz.test -test.run Campaign -for 10m -workers 16 -out /tmp/found
//
// It writes each failure to a file, with the text, the stack and the seed.
package runfuzz
