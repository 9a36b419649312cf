// Package version says what this binary is: its version and revision, the Go that built
// it, and the PTX that it knows.
package version
