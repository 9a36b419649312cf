package scalar

// Div is div. The smallest signed number divided by -1 is itself.
func Div[T integer](a, b T) T {
	if b == 0 {
		return divByZero[T]()
	}
	return a / b
}

// Rem is rem.
func Rem[T integer](a, b T) T {
	if b == 0 {
		return remByZero[T]()
	}
	return a % b
}

// divByZero and remByZero return all ones, for signed types as well.

func divByZero[T integer]() T { return ^T(0) }

func remByZero[T integer]() T { return ^T(0) }
