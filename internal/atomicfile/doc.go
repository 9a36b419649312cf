// Package atomicfile replaces files so that a reader, or a crash in the middle,
// sees the old content or the new and nothing in between.
package atomicfile
