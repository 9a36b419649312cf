// Package kernels lists the families of kernels. Callers find a kernel here by its name, or
// have the best one for a problem chosen, without importing a family. A new family is a
// folder and one line in [Families].
package kernels
