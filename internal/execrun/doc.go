// Package execrun runs the kernels of a PTX file as a launch file says, under one or several
// schedules, watched by checkers and counters, and reports what they wrote and what was
// found. It is the work of attest exec.
package execrun
