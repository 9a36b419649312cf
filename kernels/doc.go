// Package kernels lists the families of kernels: who wants a kernel by its name, or the
// best one for a problem, asks here and knows no family. A new family is a folder and one
// line of [Families].
package kernels
