// Package rivalrun times the implementations of another library against each other: every
// implementation and type that the flags of attest rival select, interleaved in one process.
package rivalrun
