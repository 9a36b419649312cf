// Package findingtext writes findings: for people in the style of a compiler, with the PTX and
// source lines of both accesses of a race; for programs as JSON; for editors and CI as SARIF.
package findingtext
