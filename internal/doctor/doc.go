// Package doctor finds out what a machine can do for attest: which GPUs, tools and
// Python libraries there are, and what the absence of each costs.
//
// Nothing is needed, so nothing is an error. Everything is asked at once and
// given a few seconds: a tool that hangs is reported as one.
package doctor
