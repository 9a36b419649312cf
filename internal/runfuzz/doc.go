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
// It goes on after a failure, and writes each to a file with the text, the stack and the seed. The
// texts that mutants are made of come from the test data of the repository, which -root names.
//
// A campaign also writes how many mutants and launches it ran to counts-SEED.json in the same folder,
// every ten seconds. The next campaign with that folder begins after the last seed, and prints the
// total. On another machine, begin far away, for example with -first 1000000000; its folder can then be
// copied over this one. The total refuses seeds that were counted twice.
package runfuzz
