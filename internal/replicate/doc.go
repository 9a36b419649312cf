// Package replicate runs a timing job in another process of this program. The job names no
// preset: it carries the texts of the kernels and how they are called, as JSON, so that the
// process times exactly what its parent measured.
package replicate
