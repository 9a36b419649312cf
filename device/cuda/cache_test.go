package cuda

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"
)

func TestCacheKey(t *testing.T) {
	a := cacheKey("text", "options", "driver", "GPU")
	if a != cacheKey("text", "options", "driver", "GPU") || len(a) != 64 {
		t.Errorf("%s is not a key", a)
	}
	for _, other := range [][]string{
		{"text ", "options", "driver", "GPU"}, {"text", "", "optionsdriver", "GPU"}, {"texto", "ptions", "driver", "GPU"},
		{"text", "options", "driver2", "GPU"}, {"text", "options", "driver", "GPU2"}, {"text", "options", "driver"},
	} {
		if cacheKey(other...) == a {
			t.Errorf("%q has the same key as other parts", other)
		}
	}
}

// TestDamage checks that a damaged file is never decoded.
func TestDamage(t *testing.T) {
	e := cached{cubin: []byte("some machine code"), log: "a log"}
	whole := encode(e)
	got, ok := decode(whole)
	if !ok || !bytes.Equal(got.cubin, e.cubin) || got.log != e.log {
		t.Fatal(got, ok)
	}
	for i := range whole {
		bad := bytes.Clone(whole)
		bad[i] ^= 0x40
		if _, ok := decode(bad); ok {
			t.Errorf("a change of byte %d is not detected", i)
		}
		if _, ok := decode(whole[:i]); ok {
			t.Errorf("%d bytes of %d are accepted", i, len(whole))
		}
	}
	if _, ok := decode(append(bytes.Clone(whole), 0)); ok {
		t.Error("an additional byte is accepted")
	}
	if _, ok := decode(encode(cached{log: "only a log"})); ok {
		t.Error("empty code is accepted")
	}
}

func TestCacheLimits(t *testing.T) {
	c := newCache(t.TempDir())
	c.diskLimit, c.heldLimit = 2000, 1000
	code := bytes.Repeat([]byte{1}, 400)
	old := filepath.Join(c.dir, ".new-left")
	if err := os.WriteFile(old, code, 0o644); err != nil {
		t.Fatal(err)
	}
	past := time.Now().Add(-2 * time.Hour)
	if err := os.Chtimes(old, past, past); err != nil {
		t.Fatal(err)
	}
	for i := range 10 {
		key := fmt.Sprint(i)
		c.put(key, cached{cubin: code})
		// Files with the same time would have no order.
		when := time.Now().Add(time.Duration(i-20) * time.Minute)
		if err := os.Chtimes(c.path(key), when, when); err != nil {
			t.Fatal(err)
		}
	}
	c.trim()
	if c.heldBytes != 800 || len(c.held) != 2 || len(c.order) != 2 {
		t.Errorf("the process holds %d bytes of %d", c.heldBytes, len(c.held))
	}
	names, err := os.ReadDir(c.dir)
	if err != nil {
		t.Fatal(err)
	}
	var left []string
	for _, n := range names {
		left = append(left, n.Name())
	}
	if got := strings.Join(left, " "); got != "6.cubin 7.cubin 8.cubin 9.cubin" {
		t.Errorf("left on disk: %s", got)
	}
	if _, ok := c.get("9"); !ok {
		t.Error("the newest file was removed")
	}
	if _, ok := c.get("0"); ok {
		t.Error("the oldest file was not removed")
	}
}

// TestCacheTogether uses several caches of one folder at once, as several processes do.
func TestCacheTogether(t *testing.T) {
	dir := t.TempDir()
	var wg sync.WaitGroup
	for w := range 8 {
		wg.Go(func() {
			c := newCache(dir)
			c.diskLimit = 4000
			for i := range 50 {
				key := fmt.Sprint((i + w) % 10)
				want := strings.Repeat(key, 500)
				if e, ok := c.get(key); ok && string(e.cubin) != want {
					t.Errorf("%s holds %.20s", key, e.cubin)
				}
				c.put(key, cached{cubin: []byte(want)})
				c.drop(key)
				c.put(key, cached{cubin: []byte(want)})
			}
		})
	}
	wg.Wait()
	left, err := filepath.Glob(filepath.Join(dir, ".new-*"))
	if err != nil || len(left) > 0 {
		t.Error(left, err)
	}
}

// TestNoFolder checks that a folder that cannot be written is not an error: code is stored
// only in the process.
func TestNoFolder(t *testing.T) {
	file := filepath.Join(t.TempDir(), "file")
	if err := os.WriteFile(file, nil, 0o644); err != nil {
		t.Fatal(err)
	}
	c := newCache(filepath.Join(file, "below"))
	c.put("k", cached{cubin: []byte("code")})
	if _, ok := c.get("k"); !ok {
		t.Error("the code is not in the process either")
	}
	if _, ok := newCache(c.dir).get("k"); ok {
		t.Error("found on disk")
	}
}

func TestOpenCache(t *testing.T) {
	dir := t.TempDir()
	t.Setenv("ATTEST_CACHE", "off")
	if openCache(Options{}) != nil {
		t.Error("ATTEST_CACHE=off opens a cache")
	}
	if c := openCache(Options{CacheDir: dir}); c == nil || c.dir != filepath.Join(dir, "cubin") {
		t.Errorf("%+v", c)
	}
	t.Setenv("ATTEST_CACHE", dir)
	a, b := openCache(Options{}), openCache(Options{})
	if a == nil || a.dir != filepath.Join(dir, "cubin") || a != b {
		t.Errorf("%+v, %+v", a, b)
	}
	if openCache(Options{NoCache: true}) != nil {
		t.Error("NoCache opens a cache")
	}
	t.Setenv("ATTEST_CACHE", "")
	t.Setenv("XDG_CACHE_HOME", dir)
	t.Setenv("HOME", dir)
	if c := openCache(Options{}); c == nil || !strings.HasSuffix(c.dir, filepath.Join("attest", "cubin")) || !strings.HasPrefix(c.dir, dir) {
		t.Errorf("%+v", c)
	}
}

func TestBuildOf(t *testing.T) {
	maps := filepath.Join(t.TempDir(), "maps")
	text := "7f00-7f01 r-xp 00000000 08:01 12 /usr/lib/libc.so.6\n7f10-7f11 r-xp 00000000 08:01 13   /usr/lib/x86_64-linux-gnu/libcuda.so.580.95.05\n"
	if err := os.WriteFile(maps, []byte(text), 0o644); err != nil {
		t.Fatal(err)
	}
	if got := buildOf(maps); got != "libcuda.so.580.95.05" {
		t.Error(got)
	}
	if got := buildOf(maps + "?"); got != "" {
		t.Error(got)
	}
}
