// Package record is what a campaign leaves behind: plain data, from the kernel that
// was judged to the verdict, as JSON. It measures nothing and judges nothing.
//
// lab fills a Record and judges it; evidence keeps records and verdicts; report shows
// them. Since all three speak through these types, a report can be made where nothing
// was measured, and a record can be judged again years later by the rules of then.
//
// Every section of a Record is a pointer: nil means that it was not measured. Times
// are of one launch, in microseconds.
package record
