package cuda

import (
	"bytes"
	"crypto/sha256"
	"encoding/binary"
	"encoding/hex"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/GOATnote-Inc/attest/internal/sorted"
)

// cached is compiled code with the log of the compiler.
type cached struct {
	cubin []byte
	log   string
}

// cache stores compiled code in the process and in a folder. Several processes may share a
// folder: a file appears complete or not at all, its name is a hash of what the code was
// compiled from, and it contains a checksum. A file that cannot be read or written is
// ignored, because compiling again is always correct.
type cache struct {
	dir       string // "" stores nothing on disk
	diskLimit int64  // bytes on disk
	heldLimit int64  // bytes in the process

	mu        sync.Mutex
	held      map[string]cached
	order     []string // keys of held, the oldest first
	heldBytes int64    // bytes of held
}

const (
	diskLimit  = 512 << 20
	localLimit = 64 << 20
)

// openCache returns the cache that the options and ATTEST_CACHE ask for. It returns nil,
// which stores nothing, if they ask for none.
func openCache(o Options) *cache {
	env := os.Getenv("ATTEST_CACHE")
	if o.NoCache || o.CacheDir == "" && env == "off" {
		return nil
	}
	dir := o.CacheDir
	if dir == "" {
		dir = env
	}
	if dir == "" {
		if user, err := os.UserCacheDir(); err == nil {
			dir = filepath.Join(user, "attest")
		}
	}
	if dir != "" {
		dir = filepath.Join(dir, "cubin")
	}
	openCaches.mu.Lock()
	defer openCaches.mu.Unlock()
	c := openCaches.of[dir]
	if c == nil {
		c = newCache(dir)
		openCaches.of[dir] = c
	}
	return c
}

// openCaches holds the caches of the process, by folder.
var openCaches = struct {
	mu sync.Mutex
	of map[string]*cache
}{of: map[string]*cache{}}

func newCache(dir string) *cache {
	return &cache{dir: dir, diskLimit: diskLimit, heldLimit: localLimit, held: map[string]cached{}}
}

// cacheKey returns the name of code that was compiled from these parts, in this order.
func cacheKey(parts ...string) string {
	h := sha256.New()
	for _, p := range append([]string{format}, parts...) {
		// The length distinguishes "ab", "c" from "a", "bc".
		h.Write(binary.LittleEndian.AppendUint64(nil, uint64(len(p))))
		h.Write([]byte(p))
	}
	return hex.EncodeToString(h.Sum(nil))
}

// get returns stored code.
func (c *cache) get(key string) (cached, bool) {
	if c == nil {
		return cached{}, false
	}
	c.mu.Lock()
	e, ok := c.held[key]
	c.mu.Unlock()
	if ok || c.dir == "" {
		return e, ok
	}
	path := c.path(key)
	data, err := os.ReadFile(path)
	if err != nil {
		return e, false
	}
	if e, ok = decode(data); !ok {
		os.Remove(path)
		return e, false
	}
	now := time.Now()
	os.Chtimes(path, now, now) // trim removes the least recently used files
	c.hold(key, e)
	return e, true
}

// put stores code.
func (c *cache) put(key string, e cached) {
	if c == nil {
		return
	}
	c.hold(key, e)
	if c.dir == "" || os.MkdirAll(c.dir, 0o755) != nil {
		return
	}
	tmp, err := os.CreateTemp(c.dir, ".new-*")
	if err != nil {
		return
	}
	_, err = tmp.Write(encode(e))
	if cerr := tmp.Close(); err == nil {
		err = cerr
	}
	if err == nil {
		err = os.Rename(tmp.Name(), c.path(key))
	}
	if err != nil {
		os.Remove(tmp.Name())
		return
	}
	c.trim()
}

// drop removes code that turned out to be unusable.
func (c *cache) drop(key string) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if e, ok := c.held[key]; ok {
		c.heldBytes -= e.size()
		delete(c.held, key)
		c.order = slices.DeleteFunc(c.order, func(k string) bool { return k == key })
	}
	if c.dir != "" {
		os.Remove(c.path(key))
	}
}

// hold stores code in the process.
func (c *cache) hold(key string, e cached) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if _, ok := c.held[key]; ok || e.size() > c.heldLimit {
		return
	}
	c.held[key] = e
	c.order = append(c.order, key)
	for c.heldBytes += e.size(); c.heldBytes > c.heldLimit; {
		c.heldBytes -= c.held[c.order[0]].size()
		delete(c.held, c.order[0])
		c.order = c.order[1:]
	}
}

func (e cached) size() int64 { return int64(len(e.cubin) + len(e.log)) }

const suffix = ".cubin"

func (c *cache) path(key string) string { return filepath.Join(c.dir, key+suffix) }

// trim removes the least recently used files until the folder is within its limit, and
// temporary files of processes that died.
func (c *cache) trim() {
	entries, err := os.ReadDir(c.dir)
	if err != nil {
		return
	}
	var files []fs.FileInfo
	var total int64
	for _, e := range entries {
		info, err := e.Info()
		switch {
		case err != nil:
		case strings.HasSuffix(e.Name(), suffix):
			files = append(files, info)
			total += info.Size()
		case time.Since(info.ModTime()) > time.Hour:
			os.Remove(filepath.Join(c.dir, e.Name()))
		}
	}
	sorted.By(files, func(a, b fs.FileInfo) int { return a.ModTime().Compare(b.ModTime()) })
	for _, f := range files {
		if total <= c.diskLimit {
			return
		}
		if os.Remove(filepath.Join(c.dir, f.Name())) == nil {
			total -= f.Size()
		}
	}
}

// format is the first line of a file. It must change whenever the format changes.
const format = "attest cubin 1\n"

// encode returns the bytes of a file: the format, a checksum of the rest, the length of the
// log, the log, and the code.
func encode(e cached) []byte {
	body := binary.LittleEndian.AppendUint64(nil, uint64(len(e.log)))
	body = append(append(body, e.log...), e.cubin...)
	sum := sha256.Sum256(body)
	return slices.Concat([]byte(format), sum[:], body)
}

// decode reads the bytes of a file. ok is false if they are damaged.
func decode(data []byte) (e cached, ok bool) {
	rest, ok := bytes.CutPrefix(data, []byte(format))
	if !ok || len(rest) < sha256.Size+8 {
		return e, false
	}
	body := rest[sha256.Size:]
	if sum := sha256.Sum256(body); !bytes.Equal(sum[:], rest[:sha256.Size]) {
		return e, false
	}
	n := binary.LittleEndian.Uint64(body)
	if n >= uint64(len(body)-8) { // the code is never empty
		return e, false
	}
	return cached{log: string(body[8 : 8+n]), cubin: body[8+n:]}, true
}
