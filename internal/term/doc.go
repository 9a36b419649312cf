// Package term presents text to people: colour where a terminal shows it, tables
// that line up, and a line of progress for work that takes a while.
//
// Everything falls back to plain text: what is piped into a file or another
// program never holds an escape sequence.
package term
