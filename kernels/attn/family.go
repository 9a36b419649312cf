package attn

import (
	"encoding/json"
	"fmt"
	"strings"

	"github.com/GOATnote-Inc/attest/kernel"
	"github.com/GOATnote-Inc/attest/problem"
)

// Family builds kernels of one kind.
type Family interface {
	// Name is the family's folder: "stages", "ada", "hopper".
	Name() string
	// Variants are the named configurations, in the order in which they build on each
	// other.
	Variants() []Variant
	// Configure returns the configuration of a variant for a problem on a chip.
	Configure(variant string, p problem.Attention, c kernel.Chip) (Config, error)
	// Choose returns the variant to use for a problem on a chip, or an error that says why
	// there is none.
	Choose(p problem.Attention, c kernel.Chip) (variant string, err error)
	// Candidates returns the configurations that Choose may return for problems like p on a chip,
	// whatever their sizes. A problem is like p if it has the same facts, and grouped heads and a
	// soft cap if p has them.
	Candidates(p problem.Attention, c kernel.Chip) []Candidate
	// Check returns the reason why a configuration cannot compute a problem on a chip, or nil.
	Check(p problem.Attention, c kernel.Chip, config Config) error
	// Build writes the kernel.
	Build(p problem.Attention, c kernel.Chip, config Config) (*kernel.Kernel, error)
	// Axes returns the fields of a configuration with the values that tuning tries.
	Axes() []Axis
	// Describe returns a configuration in words.
	Describe(config Config) string
}

// Config is a configuration of any family, as a JSON object.
type Config string

// Variant is a named configuration.
type Variant struct {
	Name string
	Idea string // what it changes
	Base string // the variant that Idea is relative to; "" for the first
	// ByShape reports whether the configuration is chosen for the problem's sizes.
	ByShape bool
	// ByChip reports whether the configuration and the target depend on the chip.
	ByChip bool
}

// Axis is a field of a configuration that tuning and toggles may change.
type Axis struct {
	Name string // on the command line: "tile-n"
	What string // what it decides, in one line
	// Path names the field from the outside in: {"schedule", "stages"}.
	Path []string
	// Values are what the field may hold, as JSON.
	Values []json.RawMessage
}

// Switch reports whether the field is on or off, and not a number.
func (a Axis) Switch() bool { return len(a.Values) > 0 && string(a.Values[0]) == "false" }

// Encode returns a family's own configuration as a Config. The fields are sorted by name, so
// that equal configurations are equal texts.
func Encode[C any](c C) Config {
	text, err := json.Marshal(c)
	if err != nil {
		panic("attn: a configuration that JSON cannot hold: " + err.Error()) // configurations hold only numbers, booleans and words
	}
	sorted, err := Config(text).sorted()
	if err != nil {
		panic("attn: " + err.Error())
	}
	return sorted
}

// sorted returns the configuration with its fields in the order of their names.
func (c Config) sorted() (Config, error) {
	d := json.NewDecoder(strings.NewReader(string(c)))
	d.UseNumber()
	var fields map[string]any
	if err := d.Decode(&fields); err != nil {
		return "", err
	}
	text, err := json.Marshal(fields)
	return Config(text), err
}

// Decode reads a family's own configuration. Fields that the family does not have are
// refused.
func Decode[C any](config Config) (c C, err error) {
	d := json.NewDecoder(strings.NewReader(string(config)))
	d.DisallowUnknownFields()
	if err = d.Decode(&c); err != nil {
		err = fmt.Errorf("configuration %s: %w", config, err)
	}
	return c, err
}

// MarshalJSON writes the configuration as a JSON object, not as a string.
func (c Config) MarshalJSON() ([]byte, error) {
	if c == "" {
		return []byte("null"), nil
	}
	return []byte(c), nil
}

// UnmarshalJSON reads an object.
func (c *Config) UnmarshalJSON(text []byte) (err error) {
	*c, err = Config(text).sorted()
	return err
}
