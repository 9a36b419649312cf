package expr

import (
	"math"
	"strconv"
	"strings"
)

// Value is an int64 or a float64. The zero value is the integer 0.
type Value struct {
	float bool
	int   int64
	num   float64
}

// Int returns the integer n as a value.
func Int(n int64) Value { return Value{int: n} }

// Float returns the float x as a value.
func Float(x float64) Value { return Value{float: true, num: x} }

// Bool returns the integer 1 for true and 0 for false.
func Bool(b bool) Value {
	if b {
		return Int(1)
	}
	return Int(0)
}

// IsInt reports whether v is an integer.
func (v Value) IsInt() bool { return !v.float }

// Int64 returns v as an integer. A float is rounded towards zero and limited to the
// range of an int64; NaN gives 0.
func (v Value) Int64() int64 {
	switch {
	case !v.float:
		return v.int
	case v.num >= math.MaxInt64:
		return math.MaxInt64
	case v.num <= math.MinInt64:
		return math.MinInt64
	case math.IsNaN(v.num):
		return 0
	}
	return int64(v.num)
}

// Float64 returns v as a float.
func (v Value) Float64() float64 {
	if v.float {
		return v.num
	}
	return float64(v.int)
}

// String returns the shortest text that Parse reads as the same value. The float 2
// is "2.0", so that it stays a float.
func (v Value) String() string {
	if !v.float {
		return strconv.FormatInt(v.int, 10)
	}
	s := strconv.FormatFloat(v.num, 'g', -1, 64)
	if !strings.ContainsAny(s, ".eIN") {
		s += ".0"
	}
	return s
}

// Env binds names to values.
type Env map[string]Value
