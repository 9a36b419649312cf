// Package observe has the types through which the emulator tells what a launch does.
//
// An [Observer] is asked once per launch whether the launch is of interest. If it is, the
// [LaunchObserver] that it returns chooses the instructions to be announced, and one
// [ClusterObserver] per cluster receives the events: instructions that execute, memory
// accesses, asynchronous work, mbarriers and barriers.
//
// Observers never change what is executed. A launch without an observer runs code that
// contains no announcements, so observing costs nothing when nobody observes.
package observe
