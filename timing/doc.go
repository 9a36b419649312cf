// Package timing measures how long work takes on a device, in parts that are
// named and can be used alone.
//
// [Timer.EventTime] is one launch between two events; [Timer.GraphReplay] is many
// launches in a graph, replayed, and their time divided by their number, which is
// what a microsecond kernel costs in a stream of others. Both exist [Warm], on the
// same buffers again and again, and [Cold], with the L2 cache made to forget. A
// figure without these two words is half a figure, so every result carries its
// [Method].
//
// [Interleave] takes several candidates in turns, in one process, for two things
// that are timed one after the other are also timed on a cooler and a warmer
// card. It ends by a [Stop] rule. A [Run] holds every sample in the order taken,
// none is dropped, with the state of the card around each batch, which is read
// and never changed.
//
// What the host does must not be in the figures. Before each sample a kernel that
// only waits holds the stream, until all of the sample is queued behind it; when
// the host was too slow, which the start event tells, the sample does not count
// as taken, and the next wait is longer.
package timing
