// Package english writes counts in messages: "1 kernel", "2 kernels", "0 entries are".
// Every message of the repository that counts something uses it.
package english
