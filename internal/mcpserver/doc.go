// Package mcpserver serves commands of attest to coding agents over the Model Context Protocol.
//
// A client is a stranger: what it sends may be hostile. Each call runs attest in a process of its
// own, in a new folder that holds only what the client sent. Texts, time, memory and output have
// limits, and no argument of a client can name another file or a flag.
package mcpserver
