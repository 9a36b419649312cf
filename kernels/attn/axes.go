package attn

import (
	"encoding/json"
	"fmt"
	"reflect"
	"strings"
	"unicode"
)

// Field describes a field of a configuration: what it decides, in one line, and for a
// number the values that tuning tries.
type Field struct {
	What   string
	Values []int
}

// AxesOf returns the axes of a configuration type, one for each field, nested groups
// included. fields describes each field by its path, joined with dots. A boolean field has
// two values. AxesOf panics if a field has no description, so that none is forgotten.
func AxesOf[C any](fields map[string]Field) (axes []Axis) {
	walk(reflect.TypeFor[C](), nil, func(path []string, kind reflect.Kind) {
		field, ok := fields[strings.Join(path, ".")]
		if !ok {
			panic("attn: field " + strings.Join(path, ".") + " has no description")
		}
		a := Axis{Name: toggleName(path[len(path)-1]), Path: path, What: field.What}
		if kind == reflect.Bool {
			a.Values = []json.RawMessage{json.RawMessage("false"), json.RawMessage("true")}
		}
		for _, v := range field.Values {
			a.Values = append(a.Values, json.RawMessage(fmt.Sprint(v)))
		}
		axes = append(axes, a)
	})
	return axes
}

// toggleName returns the name of a field on the command line: tile-m for TileM or tile_m.
func toggleName(field string) string {
	var b strings.Builder
	for i, r := range field {
		switch {
		case r == '_':
			r = '-'
		case unicode.IsUpper(r):
			if i > 0 && !unicode.IsUpper(rune(field[i-1])) {
				b.WriteByte('-')
			}
			r = unicode.ToLower(r)
		}
		b.WriteRune(r)
	}
	return b.String()
}

// walk visits the fields of a structure by their JSON names.
func walk(t reflect.Type, path []string, visit func(path []string, kind reflect.Kind)) {
	for _, f := range reflect.VisibleFields(t) {
		if !f.IsExported() || len(f.Index) > 1 {
			continue
		}
		name, _, _ := strings.Cut(f.Tag.Get("json"), ",")
		if name == "" {
			name = f.Name
		}
		at := append(path[:len(path):len(path)], name)
		if f.Type.Kind() == reflect.Struct {
			walk(f.Type, at, visit)
			continue
		}
		visit(at, f.Type.Kind())
	}
}

// With returns the configuration with one field changed.
func (c Config) With(path []string, value json.RawMessage) (Config, error) {
	var fields map[string]json.RawMessage
	if err := json.Unmarshal([]byte(c), &fields); err != nil {
		return "", err
	}
	if len(path) > 1 {
		inner, err := Config(fields[path[0]]).With(path[1:], value)
		if err != nil {
			return "", fmt.Errorf("%s: %w", path[0], err)
		}
		value = json.RawMessage(inner)
	}
	fields[path[0]] = value
	text, err := json.Marshal(fields) // sorts the names
	return Config(text), err
}
