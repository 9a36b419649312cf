// Package jsonpos reads JSON files that people write, and reports every mistake at
// its line and column. encoding/json does not keep the positions of values.
//
// [Parse] turns a text into a tree of nodes. The methods of [Node] return values of
// one type, or an error at the node: file:line:column: message. Columns count bytes
// from 1.
//
// [Node.Object] reads an object into a structure. It takes one reader per field,
// refuses unknown fields and reports missing ones:
//
//	var l launch
//	err := node.Object("a launch", jsonpos.Fields{
//		"entry":  jsonpos.Text(&l.entry),
//		"grid":   jsonpos.Exprs(&l.grid, 1, 3, names),
//		"params": jsonpos.List("parameters", l.readParam),
//	}, "entry", "grid")
//
// [Node.Label] says what a node is, for example "launch 1 (saxpy)". Every error at
// the node or inside it starts with the label.
//
// Parse refuses a text with a duplicate field, with text after the value, of more
// than 16 MiB, of more than 262144 values, or of more than 16 levels of nesting.
package jsonpos
