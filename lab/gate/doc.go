// Package gate judges records. It measures nothing: [Judge] depends on the [record.Record]
// alone, so the same record always gets the same verdict.
//
// # The gates
//
// The gates judge in this order. A gate that is red or void stops the kernel: the gates
// after it are skipped.
//
//	resources    red    registers, static and dynamic shared memory, or spills are above
//	                    the budget on a target
//	             skip   not measured, or only an estimate is above the budget
//	defects      red    a checker found an error, or the output depends on the schedule
//	             void   fewer than two schedules, no shape with a partial tile, less than 90 %
//	                    of the lines ran, or less than 60 % of ten or more branch outcomes
//	correctness  red    a fault; elements that were not written; guard bands or inputs that
//	                    changed; a second run with a different output; NaN; errors above
//	                    the tolerance; a tolerance that is looser than this package's
//	             void   an impostor passes where it applies; fewer than four impostors are
//	                    caught; no partial tile; only one seed; too few rows were compared
//	performance  red    wrong outputs of timed launches; a sample below the physical floor;
//	                    samples that add up to more time than passed; unexpected names or
//	                    methods; slower than the baseline without counters to explain it
//	             void   the ceilings of the device were not probed, or the inputs are zeros
//	             skip   nothing was timed: no GPU
//	             green  the times are sound, whether fast or slow
//
// A new gate is one file with its spec and one line in the list of gates; it judges what the
// record holds.
//
// # The outcomes
//
// The first row that applies is the outcome.
//
//	REJECT          a gate is red or void
//	NO-CHANGE       the kernel is its baseline: the same instructions, called the same way
//	CORRECT         the kernel ran on the emulator, so it was not timed; defects and
//	                correctness are green
//	DEFER           a gate was skipped
//	MERGE           there is no baseline: the kernel is the first of a ladder
//	MERGE           in a replayed graph with a warm cache, at least one shape is faster by
//	                the minimum effect (+10 %), its interval is clear of the baseline, and
//	                no shape and method is slower with its interval clear of the baseline
//	VALID-NEGATIVE  every interval excludes the minimum effect, or a shape is slower, and
//	                counters explain it
//	DEFER           the run could not decide; the verdict names the smallest effect that
//	                the run could detect
//
// # Errors
//
// A case passes when all of these hold. Errors are differences of O from float64.
//
//	fixed     on the inputs before quantisation: max ≤ 0.06, mean ≤ 0.02, and at most 1 % of
//	          the elements above 0.06. A limit that rounding the inputs to the format
//	          already exceeds does not apply
//	held      the mean error is at most what rounding inputs from N(0,1) causes: see [Held]
//	relative  on the inputs before and after quantisation: the root mean square error is at
//	          most twice that of a plain computation in the same precision, and the largest
//	          error at most four times. On the quantised inputs, the mean error of every 32
//	          rows is at most four times that of the plain computation
//	lse       the log-sum-exp is off by at most 0.005 plus 1/4096 of its value
package gate
