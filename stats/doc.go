// Package stats evaluates measured times: a [Summary] describes one sample, and a
// [Comparison] compares two kernels that were measured side by side.
//
// The package does not remove outliers and does not assume a normal distribution. A time
// has a hard lower limit and a long tail, so the package uses the median, and intervals come
// from order statistics or from a bootstrap. Random numbers start from a seed: the same
// samples give the same figures on every machine.
//
// The launches of one process share the placement of its memory and its clocks, so a
// thousand launches are still one experiment. A comparison therefore takes one [Replicate]
// per process, and resamples the replicates first.
package stats
