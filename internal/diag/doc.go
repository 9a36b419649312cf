// Package diag shows what is wrong with a PTX text: to people as compilers do,
// with the line and a caret under the column, and to programs as JSON.
package diag
