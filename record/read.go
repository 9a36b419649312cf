package record

import (
	"encoding/json"
	"fmt"
)

// Read reads a record of this schema or of an older one.
func Read(text []byte) (*Record, error) {
	schema, err := schemaOf(text)
	if err != nil {
		return nil, err
	}
	if schema == 1 {
		var old record1
		if err := json.Unmarshal(text, &old); err != nil {
			return nil, err
		}
		return old.upgrade()
	}
	var r Record
	if err := json.Unmarshal(text, &r); err != nil {
		return nil, err
	}
	return &r, nil
}

// ReadVerdict reads a verdict of this schema or of an older one. The form of verdicts has
// not changed since schema 1.
func ReadVerdict(text []byte) (*Verdict, error) {
	if _, err := schemaOf(text); err != nil {
		return nil, err
	}
	var v Verdict
	if err := json.Unmarshal(text, &v); err != nil {
		return nil, err
	}
	v.Schema = Schema
	return &v, nil
}

// schemaOf returns the schema of a record or a verdict. It refuses a schema that this version
// does not know.
func schemaOf(text []byte) (int, error) {
	var head struct {
		Schema int `json:"schema"`
	}
	if err := json.Unmarshal(text, &head); err != nil {
		return 0, fmt.Errorf("this is not a file of attest: %w", err)
	}
	switch {
	case head.Schema < 1:
		return 0, fmt.Errorf("this is not a file of attest: there is no schema %d", head.Schema)
	case head.Schema > Schema:
		return 0, fmt.Errorf("it has schema %d, this version reads up to %d: use a newer attest", head.Schema, Schema)
	}
	return head.Schema, nil
}
