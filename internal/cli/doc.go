// Package cli has the parts that the commands share: streams and common flags, exit codes,
// the loop over several PTX files, and the value of --check.
//
// The exit code is 0 for success, 1 when a file has errors or a result is wrong, and 2 when
// the command cannot run: an unknown flag, a missing argument, a file that cannot be read. It
// is 3 for an internal error: attest itself failed, and the kernel is not to blame.
// Of several files, the highest code counts; one bad file does not stop the rest.
package cli
