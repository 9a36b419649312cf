// Package record holds the results of a campaign as plain data: the kernel, what was
// measured, and the verdict. It measures nothing and judges nothing.
//
// lab fills a [Record], lab/gate judges it, evidence keeps records and verdicts, and
// internal/report shows them. All of them use these types, so one machine can measure and
// another can report, and a record can be judged again later by other rules.
//
// Every section of a Record is a pointer; nil means that the section was not measured.
// Times are those of one launch, in microseconds.
//
// # Schemas
//
// [Schema] is the version of the JSON form. [Read] and [ReadVerdict] read this version and
// all older ones; fields that an older version lacks are derived from the others. Stored
// files are never rewritten. A newer version is refused.
package record
