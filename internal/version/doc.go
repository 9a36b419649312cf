// Package version describes the running binary: its version and revision, the version of Go
// that compiled it, and the PTX that it supports.
package version
