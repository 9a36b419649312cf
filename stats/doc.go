// Package stats says what a set of measured times can bear: a [Summary] of one
// sample, and a [Comparison] of two things that were measured side by side.
//
// Nothing is trimmed and nothing is assumed to be normal. A time has a hard floor
// and a long tail, so its middle is the median, and intervals come from order
// statistics or from a bootstrap. Everything random starts from a seed: the same
// samples give the same figures on every machine.
//
// The launches of one process share its memory placement, its clocks and its
// luck, so a thousand of them are still one experiment. A comparison therefore
// takes [Replicate]s, one a process, and resamples those first.
package stats
