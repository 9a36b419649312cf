package attn

import (
	"encoding/json"
	"fmt"
	"reflect"
	"strings"
)

// AxesOf are the axes of a configuration type: every field, in groups within groups. A
// boolean field has two values. values gives those of the others by their path, joined
// with dots; a field that it does not name is not tuned.
func AxesOf[C any](values map[string][]int) (axes []Axis) {
	walk(reflect.TypeFor[C](), nil, func(path []string, kind reflect.Kind) {
		a := Axis{Path: path}
		if kind == reflect.Bool {
			a.Values = []json.RawMessage{json.RawMessage("false"), json.RawMessage("true")}
		} else {
			for _, v := range values[strings.Join(path, ".")] {
				a.Values = append(a.Values, json.RawMessage(fmt.Sprint(v)))
			}
		}
		if len(a.Values) > 0 {
			axes = append(axes, a)
		}
	})
	return axes
}

// walk visits the fields of a structure by the names that JSON has for them.
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

// With is the configuration with one field changed.
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
