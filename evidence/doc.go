// Package evidence keeps what campaigns leave behind: an append-only store of records
// and verdicts in a directory, as plain JSON that is read without attest.
//
//	objects/ab/abcd….json   a record or a verdict, named by the SHA-256 of the file
//	objects/ab/abcd….ptx    the PTX of a kernel, named by its SHA-256, as records name it
//	log/00000001.json       one line an entry, in order: what was added, and the hash
//	                        of the entry before it
//	head.json               the newest entry and its hash
//	tmp/                    files that are being written
//	identities.json         identities of kernels that the oldest records lack
//
// So `sha256sum objects/*/*` checks the objects, and `cat log/*.json` is an index
// as JSON lines. A verdict names the hash of the record that it judged. A record names the
// hashes of the texts of its kernels and says how they are called, so that [Store.Kernel]
// can give any of them back to be run again.
//
// Nothing is ever changed. A file that is edited, removed, renamed or put in another's
// place breaks the chain, and [Store.Verify] names it. What no store can prove by
// itself is that it was not made anew from the first entry on: cite the head, and
// whoever has it can tell.
//
// # Writers
//
// Any number of processes may add at once; none waits for another and there is no lock
// that a crash could leave behind. Whatever is to be written is first complete and on
// the disk under tmp/, the object, its entry and the head. Then three steps make it
// visible: the object is renamed to its name, the entry is linked to the next free
// number, which fails if another process had it first and is then tried again with the
// number after it, and the head is replaced. A process that is killed leaves files in
// tmp/, an object that no entry names, or a head that is one entry late. All three are
// in order, and Verify mentions them as notes.
//
// # Bringing it home
//
// [Store.Export] writes a store as one file, a tar that anything unpacks; [Unpack] and
// [Store.Import] add it to another store, where all hashes stay the same.
//
// # Damage
//
// Reading goes on past what is damaged. Each function that reads several files returns
// what it could read, and a [Problem] for each file it could not.
package evidence
