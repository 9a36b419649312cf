// Package evidence is an append-only store of records and verdicts: a folder of plain JSON
// files that can be read without attest.
//
//	objects/ab/abcd….json   a record or a verdict, named by the SHA-256 of the file
//	objects/ab/abcd….ptx    the PTX of a kernel, named by its SHA-256, as records name it
//	log/00000001.json       one entry per file, in order: what was added, and the hash of
//	                        the entry before it
//	head.json               the newest entry and its hash
//	tmp/                    files that are being written
//	identities.json         identities of kernels that the oldest records lack
//
// [Dir] is the store of the user, which git ignores. The folder evidence of the repository
// is the published store: commands read it when --evidence names it.
//
// `sha256sum objects/*/*` checks the objects, and `cat log/*.json` prints an index as JSON
// lines. A verdict names the hash of the record that it judged. A record names the
// hashes of the texts of its kernels and says how they are called, so [Store.Kernel] returns
// a kernel that can be run again.
//
// Files are never changed. A file that is edited, removed, renamed or replaced breaks the
// chain, and [Store.Verify] names it.
//
// # Trust
//
// Whoever keeps a store can rewrite it from the first entry on, or cut its tail, so that all
// hashes fit. [Store.VerifyWith] finds that out for a reader who knows one head or one public
// key. A head is the hash of an entry and covers all entries before it; [Store.Heads] lists
// them for a file in git. A writer with a key ([NewKey], [Store.Sign]) signs its entries. A
// signature covers the hash of the entry before, so it vouches for the log up to its entry. Only a
// head shows that entries after it were cut. VerifyWith also computes the verdicts again from
// their records. Keys never lie in a store.
//
// # Writers
//
// Any number of processes can add at the same time. No process waits for another, and there
// is no lock that a crash could leave behind. A writer first writes the object, its entry
// and the head completely under tmp/. Then three steps make them visible. The object is
// renamed to its name. The entry is linked to the next free number; if another process took
// that number, the writer tries the next one. The head is replaced. A process that is killed
// leaves files in tmp/, an object that no entry names, or a head that is one entry behind.
// All three are harmless, and Verify lists them as notes.
//
// # Export and import
//
// [Store.Export] writes a store as one tar file. [Unpack] and [Store.Import] add it to
// another store, where all hashes of objects stay the same. An imported entry holds the entry of the first
// store with its signature, so VerifyWith accepts it for the key of that store, too.
//
// # Damage
//
// A damaged file does not stop a reader. Each function that reads several files returns what
// it could read, and one [Problem] for each file that it could not.
package evidence
