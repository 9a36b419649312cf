// Package predict predicts how long a kernel takes on a GPU, and where the time goes.
//
// It is a model and not a measurement. Every output marks its times as PREDICTED, and no gate
// accepts them. A prediction has a band: on an H200 about four of five validated kernels lie in it.
//
// The emulator runs a few representative clusters of a launch and package warptrace records their
// warps. Package machine replays the traces with the latencies and throughputs of a chip. This
// package decides what is replayed: it assigns all clusters of the grid to the SMs in the order in
// which a GPU does, finds the SMs that end last, and replays the clusters that run on them. The
// launch itself adds a constant.
//
// The floor of a kernel is the time of its busiest unit, as if everything else overlapped with it.
// The rest of the time is waiting, and the profile says by phase and by line what for. A phase is
// the code from one source file, or from one source line if there is only one file.
package predict
