// Package findingtext writes findings: for people as a good compiler does, with both
// accesses of a race, their lines of PTX and of the source; for programs as JSON; for
// editors and CI as SARIF.
package findingtext
