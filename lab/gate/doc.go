// Package gate judges records. It measures nothing: Judge is a function of a
// [record.Record] alone, so a record can be judged again anywhere, and by nobody's
// mood.
//
// # The gates
//
// In this order; a red or void gate stops the line, the ones after it are skipped.
//
//	resources    red    registers, shared memory, static and dynamic, or spills above
//	                    the budget on some target
//	             skip   not measured, or an estimate alone is above the budget
//	defects      red    a checker found an error, or bits depend on the schedule
//	             void   fewer than two schedules, or no shape with a partial tile
//	correctness  red    a fault; elements not written; guard bands or inputs changed;
//	                    other bits when run again; NaN; errors above the tolerance;
//	                    a tolerance looser than this package's
//	             void   an impostor passes where it applies; fewer than four are
//	                    caught at all; no partial tile; one seed only; the output
//	                    was not compared as a whole
//	performance  red    wrong outputs in timed launches; a sample below the physical
//	                    floor; more time than passed; names or methods that do not
//	                    belong; slower than the baseline and no counters say why
//	             void   ceilings not probed, inputs that say nothing (zeros)
//	             skip   nothing was timed: no GPU
//	             green  the figures hold, whatever they say
//
// # The outcomes
//
// The first row that holds.
//
//	REJECT          a gate is red or void
//	NO-CHANGE       it is the same kernel as the baseline: the same instructions, called in the same way
//	DEFER           a gate was skipped
//	MERGE           there is no baseline: the first of a ladder
//	MERGE           by replayed graph and warm cache, some shape is faster by the
//	                minimum effect (+10 %) with the interval clear of the baseline,
//	                and no shape by any method is slower with its interval clear
//	VALID-NEGATIVE  every interval excludes the minimum effect, or some shape is
//	                slower, and counters say why
//	DEFER           the run could not tell: the smallest effect that it would have
//	                seen is named
//
// # Errors
//
// A case holds when all of these do. Errors are of O, against float64.
//
//	fixed     max ≤ 0.06, mean ≤ 0.02 and at most 1 % above 0.06, on the inputs as they
//	          were before quantising; where rounding the inputs to the format alone
//	          breaks one of the three, that one does not count
//	held      mean at most what rounding inputs from N(0,1) costs by arithmetic: see Held
//	relative  over the inputs as they were, and over the quantised ones: root mean
//	          square at most twice that of a plain computation in the same precision,
//	          and the largest error at most four times; and over the quantised ones the
//	          mean of every 32 rows at most four times
//	lse       at most 0.005 and a 4096th of its size
package gate
