package findingtext

import (
	"os"
	"path/filepath"
	"strconv"
	"strings"
)

// origin is a place in the file that PTX was made from.
type origin struct {
	name         string
	line, column int
}

// parseOrigin reads "kernel.cu:12:3" from its end, since names may hold colons.
func parseOrigin(source string) (origin, bool) {
	rest, column, ok := cutNumber(source)
	if !ok {
		return origin{}, false
	}
	name, line, ok := cutNumber(rest)
	if !ok { // there was no column
		name, line, column = rest, column, 0
	}
	return origin{name, line, column}, name != "" && line > 0
}

func cutNumber(s string) (before string, n int, ok bool) {
	at := strings.LastIndexByte(s, ':')
	if at < 0 {
		return s, 0, false
	}
	n, err := strconv.Atoi(s[at+1:])
	return s[:at], n, err == nil
}

// sources finds and keeps the files that PTX was made from.
type sources struct {
	beside string // the PTX file
	files  map[string]*sourceFile
}

type sourceFile struct {
	path  string
	lines []string
}

// largestSource is the size of the largest file, in bytes, that is read for an
// excerpt. Texts that people write are smaller.
const largestSource = 16 << 20

// find reads a file by the name that .file gives it. A relative name is looked up in
// the folder of the PTX file and in the working directory. It returns nil when there
// is no such file.
func (s *sources) find(name string) *sourceFile {
	if f, known := s.files[name]; known {
		return f
	}
	if s.files == nil {
		s.files = map[string]*sourceFile{}
	}
	s.files[name] = nil
	candidates := []string{name}
	if !filepath.IsAbs(name) {
		candidates = []string{filepath.Join(filepath.Dir(s.beside), name), name}
	}
	for _, path := range candidates {
		info, err := os.Stat(path)
		if err != nil || !info.Mode().IsRegular() || info.Size() > largestSource {
			continue
		}
		if text, err := os.ReadFile(path); err == nil {
			s.files[name] = &sourceFile{path, Lines(string(text))}
			break
		}
	}
	return s.files[name]
}

// line returns the text of the line, if its file can be read.
func (s *sources) line(o origin) (text string, ok bool) {
	f := s.find(o.name)
	if f == nil || o.line > len(f.lines) {
		return "", false
	}
	return f.lines[o.line-1], true
}
