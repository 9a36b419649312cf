// Package record holds what a campaign leaves behind, as plain data: from the kernel that
// was judged to the verdict. It measures nothing and judges nothing.
//
// lab fills a [Record], lab/gate judges it, evidence keeps records and verdicts, and
// internal/report shows them. All of them speak through these types, so a report can be
// made where nothing was measured, and a record can be judged again later by other rules.
//
// Every section of a Record is a pointer; nil means that the section was not measured.
// Times are those of one launch, in microseconds.
//
// # Schemas
//
// [Schema] is the version of the JSON form. [Read] and [ReadVerdict] read this version and
// all older ones: what an older version lacks is worked out from what it has. Stored files
// are never rewritten. A newer version is refused.
package record
