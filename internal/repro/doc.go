// Package repro saves the inputs of a command that ended with an internal error, so that the
// error can be reproduced and reported.
package repro
