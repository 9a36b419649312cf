// Package doctor finds out what a machine can do for attest: which GPUs, tools and Python
// libraries it has, and what a user loses without the missing ones.
//
// All of them are optional, so a missing one is not an error. All are asked at the same time
// and have a few seconds to answer; a tool that hangs is reported.
package doctor
