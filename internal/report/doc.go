// Package report shows evidence: as tables in a terminal, as Markdown, and as one HTML
// page with charts that needs no network. It measures nothing and judges nothing; every
// number names the hash of its record.
//
//	v := report.New(store.Load())
//	v.WriteText(os.Stdout, style)   // tables
//	v.Compare()                     // COMPARE.md: verdicts, and times of each shape
//	v.History()                     // HISTORY.md: every time that was taken
//	v.SetTargets(file, time.Now())  // targets, milestones and ideas to compare with
//	v.StatusPage()                  // STATUS.md: what is done, what did not work, what is next
//	v.Validation(kernel)            // the page of one kernel
//	v.WriteHTML(w, hashes...)       // the HTML page, the records of a run first
//	v.WriteSVG(w)                   // our times beside those of the rivals
//	v.Results()                     // the table for a README
//
// A kernel is a name with its format, target and problem. It is represented by the newest
// record of its newest PTX that was timed or rejected, so a later run on a machine without a
// GPU does not hide the results of a GPU. Times of older PTX are shown and marked.
//
// The page has sections. A new section is one file with its spec and one line in the list of
// sections.
//
// The same evidence and targets give the same bytes, on the same day if targets have dates.
package report
