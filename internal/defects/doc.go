// Package defects shows what is wrong with a kernel that ran: to people as a good
// compiler would, with both accesses of a race in their lines of PTX and of the
// source; to programs as JSON; to editors and CI as SARIF.
package defects
