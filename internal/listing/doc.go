// Package listing writes what a kernel did for a reader: its counters on one screen, and its
// PTX with the counters beside each line and the findings below their lines.
package listing
