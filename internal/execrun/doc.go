// Package execrun implements attest exec. It runs the kernels of a PTX file as a launch file
// describes, in one or several schedules, under checkers and counters, and reports which
// buffers differ and which defects the checkers found.
package execrun
