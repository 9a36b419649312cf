// Package rivalrun times the implementations of another library against each other: every
// implementation and type that the flags of attest rival leave, in turns, in one process.
package rivalrun
