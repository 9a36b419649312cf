package remote

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"github.com/GOATnote-Inc/attest/internal/atomicfile"
	"github.com/GOATnote-Inc/attest/internal/limited"
)

// Host is a machine that jobs run on.
type Host struct {
	Name string `json:"-"` // as the user calls it
	// SSH is the command that reaches the machine and runs the words after it there, such as
	// "gcloud compute ssh box --zone z --". Empty means ssh with the name of the host.
	SSH string `json:"ssh,omitempty"`
	// Dir is the one folder over there that attest uses. Empty means .attest-remote in the home
	// folder.
	Dir string `json:"dir,omitempty"`
	// Env holds environment variables of jobs, such as ATTEST_PYTHON.
	Env map[string]string `json:"env,omitempty"`
}

// Hosts are the machines that the user named, by their names.
type Hosts map[string]Host

// HostsFile returns the file that keeps the named hosts.
func HostsFile() (string, error) {
	dir, err := os.UserConfigDir()
	if err != nil {
		return "", err
	}
	return filepath.Join(dir, "attest", "hosts.json"), nil
}

// ReadHosts reads the named hosts. A file that does not exist holds none.
func ReadHosts(file string) (Hosts, error) {
	text, err := limited.ReadFile(file, limited.Small)
	if errors.Is(err, fs.ErrNotExist) {
		return Hosts{}, nil
	}
	if err != nil {
		return nil, fmt.Errorf("the file of named hosts: %w", err)
	}
	var content struct {
		Hosts Hosts `json:"hosts"`
	}
	d := json.NewDecoder(strings.NewReader(string(text)))
	d.DisallowUnknownFields()
	if err := d.Decode(&content); err != nil {
		return nil, fmt.Errorf("%s: %w; it must look like {\"hosts\": {\"l4\": {\"ssh\": \"ssh me@box\"}}}", file, err)
	}
	for name, h := range content.Hosts {
		h.Name = name
		content.Hosts[name] = h
	}
	if content.Hosts == nil {
		content.Hosts = Hosts{}
	}
	return content.Hosts, nil
}

// Write writes the named hosts to a file that only the user can read.
func (h Hosts) Write(file string) error {
	text, err := json.MarshalIndent(map[string]Hosts{"hosts": h}, "", "  ")
	if err != nil {
		return err
	}
	if err := os.MkdirAll(filepath.Dir(file), 0o700); err != nil {
		return err
	}
	return atomicfile.Write(file, append(text, '\n'))
}

// Find returns the host with a name: a named host, or a host that ssh knows. ssh replaces the
// command of the host unless it is empty.
func Find(name, ssh string) (Host, error) {
	if err := checkName(name); err != nil {
		return Host{}, err
	}
	file, err := HostsFile()
	if err != nil {
		return Host{}, err
	}
	hosts, err := ReadHosts(file)
	if err != nil {
		return Host{}, err
	}
	h := hosts[name]
	h.Name = name
	if ssh != "" {
		h.SSH = ssh
	}
	_, err = h.command()
	return h, err
}

// checkName refuses names that ssh would read as a flag, and names that would break messages.
func checkName(name string) error {
	if name == "" || strings.HasPrefix(name, "-") || strings.ContainsFunc(name, func(r rune) bool { return r <= ' ' || r == 0x7f }) {
		return fmt.Errorf("%q cannot be the name of a host: use what ssh accepts, such as box or me@10.0.0.5", name)
	}
	return nil
}

// Add names a host.
func (h Hosts) Add(host Host) error {
	if err := checkName(host.Name); err != nil {
		return err
	}
	if _, err := host.command(); err != nil {
		return err
	}
	h[host.Name] = host
	return nil
}

// command returns the words of the command that runs further words on the host.
func (h *Host) command() ([]string, error) {
	if h.SSH == "" {
		return []string{"ssh", "-T", h.Name}, nil
	}
	words, err := split(h.SSH)
	if err == nil && len(words) == 0 {
		err = errors.New("it is empty")
	}
	if err != nil {
		return nil, fmt.Errorf("the ssh command of %s: %w", h.Name, err)
	}
	return words, nil
}

// split returns the words of a command line. Single and double quotes and backslashes work as
// in a shell; nothing is expanded.
func split(line string) (words []string, err error) {
	var word strings.Builder
	inWord, quote := false, rune(0)
	escaped := false
	for _, r := range line {
		switch {
		case escaped:
			word.WriteRune(r)
			escaped = false
		case r == '\\' && quote != '\'':
			escaped, inWord = true, true
		case quote != 0 && r == quote:
			quote = 0
		case quote != 0:
			word.WriteRune(r)
		case r == '\'' || r == '"':
			quote, inWord = r, true
		case r == ' ' || r == '\t' || r == '\n':
			if inWord {
				words = append(words, word.String())
				word.Reset()
			}
			inWord = false
		default:
			word.WriteRune(r)
			inWord = true
		}
	}
	if quote != 0 || escaped {
		return nil, fmt.Errorf("a quote is not closed in %s", line)
	}
	if inWord {
		words = append(words, word.String())
	}
	return words, nil
}
