// Package watch repeats a command when the files that it reads change, and shows what changed in
// its output.
package watch
