// Package limited reads files that strangers wrote or named: it never reads more than a limit,
// and it does not wait for a pipe or read a device where a file is expected.
package limited
