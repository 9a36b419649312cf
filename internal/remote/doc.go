// Package remote runs attest on another machine over SSH, as if it ran here.
//
// One connection does everything. The client starts ssh, or a command of the user, with "sh" as
// the remote command, and talks to that shell: it asks for the system and the architecture, sends
// a static binary of attest if the machine has none with the right hash, and starts this binary
// as the agent. From there on both sides exchange frames; see wire.go.
//
// The agent starts the job detached from the connection. The output of the job goes to files, and
// a supervisor writes the exit code to another file. A client that loses its connection connects
// again and continues after the last byte that it received. The name of a job is the hash of its
// command line, of its input files and of the folder that it was started from, so the same
// command finds the job again, even from a new process.
//
// The job sees a copy of the files that it reads, in folders that mirror those of this machine,
// so all relative paths stay true. Files that the job writes and records of evidence come back
// when the job has ended; then the job is deleted over there. Everything lies in one folder of
// the remote machine, and [Client.Clean] removes it. Nothing needs root.
//
// The remote machine is not trusted with this one: a file comes back only if the command line
// names it as an output, and records are checked against their hashes.
package remote
