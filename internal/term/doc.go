// Package term formats text for people: colours, tables, bars, and a progress line.
//
// Output that is not a terminal is plain text: a file or a pipe never gets an escape sequence
// unless the user asks for colours.
package term
