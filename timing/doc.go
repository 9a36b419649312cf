// Package timing measures the time of launches on a device.
//
// [Timer.EventTime] measures one launch between two events. [Timer.GraphReplay] replays a
// graph of many launches and divides the time by their number. This is the cost of a short
// kernel that runs among others in a stream. Both methods work with a [Warm] cache, on the
// same buffers again and again, or with a [Cold] L2 cache. A time is meaningful only with
// the method and the state of the cache, so every result carries its [Method].
//
// A kernel must not gain time by skipping its work: by finding the answer of an earlier launch
// in its output, or by recognising its inputs. The [Spoiler] of a [Work] therefore spoils the
// outputs and changes the inputs before each pass over the sets of buffers, and each launch of a
// pass has its own set. In a graph the spoiling lies between the launches. It is also measured
// alone, beside each sample, and a sample is the difference.
//
// [Interleave] measures several candidates in turns, in one process. If they were measured
// one after the other, the first would run on a cooler GPU than the last. A [Stop] rule ends
// the measurement. A [Run] holds all samples in the order in which they were taken, and the
// state of the GPU before and after each batch. The state is read and never changed.
//
// The time of the host must not be part of a sample. Before each sample, a kernel that only
// waits blocks the stream until the whole sample is queued behind it. If the host was too
// slow, the start event has already passed when the sample is queued. Such a sample is
// discarded and taken again with a longer wait.
package timing
