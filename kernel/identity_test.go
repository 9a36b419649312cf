package kernel_test

import (
	"reflect"
	"strings"
	"testing"

	"github.com/GOATnote-Inc/attest/expr"
	"github.com/GOATnote-Inc/attest/kernel"
)

// TestIdentity: a comment, a line and a register's name do not make another kernel; an
// instruction, a grid and a workspace do.
func TestIdentity(t *testing.T) {
	same := splitMerge()
	same.PTX = "// moved\n" + strings.Replace(same.PTX, "{ ret; }", "{\n.loc 1 7 1\nret; }", 1)
	same.Name, same.Config = "another name", map[string]string{"config": "x"}
	if same.Identity() != splitMerge().Identity() {
		t.Error("comments, lines and names make another kernel")
	}
	for what, change := range map[string]func(*kernel.Kernel){
		"instruction": func(k *kernel.Kernel) { k.PTX = strings.Replace(k.PTX, "ret;", "exit;", 1) },
		"grid":        func(k *kernel.Kernel) { k.Launches[1].Grid = exprs("rows+1") },
		"workspace":   func(k *kernel.Kernel) { k.Operands[1].Init = kernel.AsIs },
		"binding":     func(k *kernel.Kernel) { k.Let[0].Value = expr.Must("4") },
	} {
		k := splitMerge()
		change(k)
		if k.Identity() == splitMerge().Identity() {
			t.Errorf("another %s is the same kernel", what)
		}
	}
}

// TestIdentitySpelling respells every expression of a call. The identity stays the same.
func TestIdentitySpelling(t *testing.T) {
	plain, respelt := everyExpression(), everyExpression()
	if n := respell(reflect.ValueOf(respelt)); n < 30 {
		t.Errorf("%d expressions were respelt: does the test still find them?", n)
	}
	if plain.Identity() != respelt.Identity() {
		t.Error("the spelling of an expression makes another kernel")
	}
}

// everyExpression returns a kernel with a value in every field that holds an expression.
func everyExpression() *kernel.Kernel {
	k := splitMerge()
	l := &k.Launches[0]
	l.Cluster, l.When = exprs("1+1"), expr.Must("B>0")
	l.Args = append(l.Args, kernel.Arg{Map: &kernel.TensorMap{
		Operand: "q", Type: "u8", Dims: exprs("D", "Sq*H"), Strides: exprs("2*D"), Box: exprs("D", "8*8"),
	}})
	return k
}

// respell replaces every expression below v by the same one in another spelling, and
// returns how many there are.
func respell(v reflect.Value) (n int) {
	if e, ok := v.Interface().(expr.Expr); ok {
		if e.IsZero() {
			return 0
		}
		v.Set(reflect.ValueOf(expr.Must(" ( " + strings.ReplaceAll(e.String(), "*", " * ") + ")")))
		return 1
	}
	switch v.Kind() {
	case reflect.Pointer:
		if !v.IsNil() {
			n = respell(v.Elem())
		}
	case reflect.Slice:
		for i := range v.Len() {
			n += respell(v.Index(i))
		}
	case reflect.Struct:
		for i := range v.NumField() {
			n += respell(v.Field(i))
		}
	}
	return n
}
