//go:build race

package cuda

// raceDetector reports whether the race detector is on. With it, sync.Pool drops some
// of its objects at random, so tests that count allocations cannot run.
const raceDetector = true
