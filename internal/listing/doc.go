// Package listing shows people what a kernel did: its counters on one screen, and its
// PTX with the counters beside each line and the findings below their lines.
package listing
