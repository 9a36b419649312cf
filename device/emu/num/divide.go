package num

// Div is div. The smallest signed number divided by -1 is itself.
func Div[T integer](a, b T) T {
	if b == 0 {
		return divByZero(a)
	}
	return a / b
}

// Rem is rem.
func Rem[T integer](a, b T) T {
	if b == 0 {
		return remByZero(a)
	}
	return a % b
}

// divByZero is all ones, for a signed division, too.
func divByZero[T integer](T) T { return ^T(0) }

// remByZero is the dividend.
func remByZero[T integer](a T) T { return a }
