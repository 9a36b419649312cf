// Package archive is the work of attest evidence and attest report on a store of evidence:
// it lists, shows, verifies, compares, exports, imports and reports what is kept. Damage is
// told on standard error and makes the exit code 1; the rest is shown all the same.
package archive
