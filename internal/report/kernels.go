package report

import "github.com/GOATnote-Inc/attest/record"

// kernelsSection shows the details of each kernel, folded; page/kernel.html has the template
// of one kernel.
var kernelsSection = section{
	id: "details", title: "Details of each kernel",
	body: `{{range .Kernels}}{{template "kernel" ($.Details .)}}{{end}}`,
}

// Details is what the template of a kernel shows.
type Details struct {
	View   *View
	Kernel *Kernel
}

// Details returns the details of a kernel.
func (v *View) Details(k *Kernel) Details { return Details{v, k} }

// Explains reports whether the counters are the reason of the verdict. The page then shows
// them unfolded.
func (k *Kernel) Explains() bool { return k.Outcome() == record.ValidNegative }

// Open reports whether the page shows the details unfolded: the kernel was rejected.
func (k *Kernel) Open() bool { return k.Outcome() == record.Reject }
