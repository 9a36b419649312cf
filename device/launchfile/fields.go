package launchfile

import (
	"encoding/json"
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"
)

// what names a value's kind to people.
func (n *node) what() string {
	switch v := n.value.(type) {
	case json.Number:
		return "the number " + v.String()
	case string:
		return fmt.Sprintf("the string %q", v)
	case bool:
		return fmt.Sprint(v)
	case []*node:
		return "a list"
	case []member:
		return "an object"
	}
	return "null"
}

// field is the value of a field of an object, or nil.
func (n *node) field(name string) *node {
	list, _ := n.value.([]member)
	for _, m := range list {
		if m.name == name {
			return m.value
		}
	}
	return nil
}

// only refuses anything but an object with these fields.
func (n *node) only(names ...string) error {
	list, ok := n.value.([]member)
	if !ok {
		return n.errorf("%s, want an object", n.what())
	}
	for _, m := range list {
		if !slices.Contains(names, m.name) {
			return n.at(m.offset, "unknown field %q; it takes %s", m.name, strings.Join(names, ", "))
		}
	}
	return nil
}

func (n *node) text() (string, error) {
	s, ok := n.value.(string)
	if !ok {
		return "", n.errorf("%s, want a string", n.what())
	}
	return s, nil
}

func (n *node) truth() (bool, error) {
	b, ok := n.value.(bool)
	if !ok {
		return false, n.errorf("%s, want true or false", n.what())
	}
	return b, nil
}

// count is a whole number from 0 to most.
func (n *node) count(most uint64) (uint64, error) {
	num, ok := n.value.(json.Number)
	if !ok {
		return 0, n.errorf("%s, want a number", n.what())
	}
	v, err := strconv.ParseUint(num.String(), 10, 64)
	if err != nil || v > most {
		return 0, n.errorf("%s, want a whole number from 0 to %d", n.what(), most)
	}
	return v, nil
}

// tolerance is a number that is not negative.
func (n *node) tolerance() (float64, error) {
	num, ok := n.value.(json.Number)
	if !ok {
		return 0, n.errorf("%s, want a number", n.what())
	}
	v, err := num.Float64()
	if err != nil || v < 0 {
		return 0, n.errorf("%s, want a number that is not negative", n.what())
	}
	return v, nil
}

// counts is a list of whole numbers.
func counts[T uint32 | uint64 | int](n *node, most uint64) ([]T, error) {
	list, ok := n.value.([]*node)
	if !ok {
		return nil, n.errorf("%s, want a list of numbers", n.what())
	}
	var vs []T
	for _, e := range list {
		v, err := e.count(most)
		if err != nil {
			return nil, err
		}
		vs = append(vs, T(v))
	}
	return vs, nil
}

// literal is a value of a type as the file gives it: a number or a string.
func (n *node) literal() (string, error) {
	switch v := n.value.(type) {
	case json.Number:
		return v.String(), nil
	case string:
		return v, nil
	}
	return "", n.errorf("%s, want a number", n.what())
}

const mostBytes = math.MaxInt64
