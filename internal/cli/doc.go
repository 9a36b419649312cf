// Package cli is what the commands share: their streams and common flags, their
// exit codes, and the way a command goes over several files.
//
// Exit codes are 0 when all is well, 1 when a file is bad, 2 when the command
// itself is: an unknown flag, a missing argument, a path that cannot be read.
// With several files the highest wins, and one bad file does not stop the rest.
package cli
