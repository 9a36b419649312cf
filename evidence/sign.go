package evidence

import (
	"crypto/ed25519"
	"crypto/rand"
	"encoding/hex"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"github.com/GOATnote-Inc/attest/internal/atomicfile"
	"github.com/GOATnote-Inc/attest/internal/limited"
)

// KeyVariable is the environment variable that names the file of the key with which entries are
// signed.
const KeyVariable = "ATTEST_KEY"

// keyHead is the first word of the file of a key.
const keyHead = "attest-ed25519-key"

// KeyFile returns the file of the user's key: the value of ATTEST_KEY, or a file in the folder
// for configurations.
func KeyFile() (string, error) {
	if path := os.Getenv(KeyVariable); path != "" {
		return path, nil
	}
	dir, err := os.UserConfigDir()
	if err != nil {
		return "", err
	}
	return filepath.Join(dir, "attest", "evidence.key"), nil
}

// NewKey makes a key, writes it to a new file that only the user can read, and returns the public
// key. store is a folder of evidence: the key must not lie in it or in another store, because stores are
// published.
func NewKey(path, store string) (public string, err error) {
	if !inside(path, store) {
		store = storeAround(path)
	}
	if store != "" {
		return "", fmt.Errorf("%s lies in the store %s: keep the key elsewhere, or whoever gets the store can sign", path, store)
	}
	pub, key, err := ed25519.GenerateKey(rand.Reader)
	if err != nil {
		return "", err
	}
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		return "", err
	}
	f, err := os.OpenFile(path, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600)
	if errors.Is(err, fs.ErrExist) {
		return "", fmt.Errorf("%s exists already: a key is never replaced", path)
	}
	if err != nil {
		return "", err
	}
	_, err = fmt.Fprintf(f, "%s %x\n", keyHead, key.Seed())
	if err = errors.Join(err, f.Sync(), f.Close()); err != nil {
		os.Remove(path)
		return "", err
	}
	return hex.EncodeToString(pub), atomicfile.SyncDir(filepath.Dir(path))
}

// storeAround returns the folder of evidence in which a file lies or would lie, or "".
func storeAround(path string) string {
	abs, err := filepath.Abs(path)
	if err != nil {
		return ""
	}
	if real, err := filepath.EvalSymlinks(filepath.Dir(abs)); err == nil {
		abs = filepath.Join(real, filepath.Base(abs))
	}
	for dir := filepath.Dir(abs); ; dir = filepath.Dir(dir) {
		_, noHead := os.Stat(filepath.Join(dir, headFile))
		_, noLog := os.Stat(filepath.Join(dir, "log"))
		if noHead == nil && noLog == nil {
			return dir
		}
		if dir == filepath.Dir(dir) {
			return ""
		}
	}
}

func inside(path, dir string) bool {
	abs, err := filepath.Abs(path)
	top, topErr := filepath.Abs(dir)
	if err != nil || topErr != nil || dir == "" {
		return false
	}
	if real, err := filepath.EvalSymlinks(top); err == nil {
		top = real
	}
	if real, err := filepath.EvalSymlinks(filepath.Dir(abs)); err == nil {
		abs = filepath.Join(real, filepath.Base(abs))
	}
	rel, err := filepath.Rel(top, abs)
	return err == nil && filepath.IsLocal(rel)
}

// Sign lets the store sign its entries with the key of a file. Without the file, entries are not
// signed, unless ATTEST_KEY names it: then it must exist.
func (s *Store) Sign(path string) error {
	data, err := limited.ReadRegular(path, 4096)
	if errors.Is(err, fs.ErrNotExist) && os.Getenv(KeyVariable) == "" {
		return nil
	}
	if err != nil {
		return fmt.Errorf("the key of the evidence: %s: %w", path, err)
	}
	text, ok := strings.CutPrefix(strings.TrimSpace(string(data)), keyHead+" ")
	seed, err := hex.DecodeString(text)
	if !ok || err != nil || len(seed) != ed25519.SeedSize {
		return fmt.Errorf("the key of the evidence: %s is not a key that attest evidence keygen wrote", path)
	}
	s.key = ed25519.NewKeyFromSeed(seed)
	return nil
}

// OpenSigned is Open for writers: entries are signed if the user has a key.
func OpenSigned(dir string) (*Store, error) {
	s, err := Open(dir)
	if err != nil {
		return nil, err
	}
	path, err := KeyFile()
	if err != nil {
		return s, nil // a user without a home has no key
	}
	return s, s.Sign(path)
}

// sign adds the signature of the store's key to an entry. It covers all other fields, among them
// the hash of the entry before, so it vouches for the whole log up to this entry.
func (s *Store) sign(e *Entry) error {
	e.Signer, e.Signature = "", ""
	if s.key == nil {
		return nil
	}
	e.Signer = hex.EncodeToString(s.key.Public().(ed25519.PublicKey))
	text, err := encode(e)
	if err == nil {
		e.Signature = hex.EncodeToString(ed25519.Sign(s.key, text))
	}
	return err
}

// signed reports whether the signature of an entry is valid.
func signed(e Entry) bool {
	sig, err := hex.DecodeString(e.Signature)
	key, keyErr := hex.DecodeString(e.Signer)
	if err != nil || keyErr != nil || len(key) != ed25519.PublicKeySize {
		return false
	}
	e.Signature = ""
	text, err := encode(e)
	return err == nil && ed25519.Verify(key, text, sig)
}

// IsHash reports whether a text has the form of a hash, which is also that of a public key.
func IsHash(text string) bool { return isHash(text) }
