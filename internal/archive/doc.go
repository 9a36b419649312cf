// Package archive is the work of attest evidence and attest report: it lists, shows, verifies,
// compares, exports, imports and reports the records of a store. It reports damaged files on
// standard error and with exit code 1, and shows the rest.
package archive
