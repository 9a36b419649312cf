// Package report shows evidence: as tables in a terminal, as Markdown, and as one HTML
// page with charts that needs no network. It measures nothing and judges nothing; every
// figure carries the hash of the record that it is from.
//
//	v := report.New(store.Load())
//	v.WriteText(os.Stdout, style)   // tables
//	v.Compare()                     // COMPARE.md: the ladder, shape by shape
//	v.History()                     // HISTORY.md: every time that was ever taken
//	v.Validation(kernel)            // one page a kernel
//	v.WriteHTML(w)                  // the page
//	v.Results()                     // the table for a README
//
// A kernel here is a name with its format and target. What is shown of it is its newest
// PTX: the newest record that was timed or rejected, so that a later run on a machine
// without a GPU does not hide what a GPU has shown. Times of older PTX are shown, and
// marked as that.
//
// The page is written from the evidence alone: the same evidence gives the same bytes.
package report
