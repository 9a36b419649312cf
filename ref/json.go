package ref

import (
	"encoding/json"
	"math"
	"strconv"
)

// Float is a number whose JSON is a string where the number is not finite: JSON has no
// other way to write NaN or an infinity.
type Float float64

// MarshalJSON writes a number, or "NaN", "+Inf" or "-Inf".
func (f Float) MarshalJSON() ([]byte, error) {
	if x := float64(f); math.IsNaN(x) || math.IsInf(x, 0) {
		return json.Marshal(strconv.FormatFloat(x, 'g', -1, 64))
	}
	return json.Marshal(float64(f))
}

// UnmarshalJSON reads what MarshalJSON writes.
func (f *Float) UnmarshalJSON(text []byte) error {
	var word string
	if json.Unmarshal(text, &word) == nil {
		x, err := strconv.ParseFloat(word, 64)
		*f = Float(x)
		return err
	}
	return json.Unmarshal(text, (*float64)(f))
}

// errorsForm is the JSON form of Errors, in which the errors may be NaN or infinite.
type errorsForm struct {
	*fields
	Max  Float `json:"max"`
	Mean Float `json:"mean"`
	RMSE Float `json:"rmse"`
	Bias Float `json:"bias"`
}

// fields is Errors without its methods.
type fields Errors

// MarshalJSON writes errors that are not finite as Float does.
func (e Errors) MarshalJSON() ([]byte, error) {
	return json.Marshal(errorsForm{(*fields)(&e), Float(e.Max), Float(e.Mean), Float(e.RMSE), Float(e.Bias)})
}

// UnmarshalJSON reads what MarshalJSON writes.
func (e *Errors) UnmarshalJSON(text []byte) error {
	form := errorsForm{fields: (*fields)(e)}
	if err := json.Unmarshal(text, &form); err != nil {
		return err
	}
	e.Max, e.Mean, e.RMSE, e.Bias = float64(form.Max), float64(form.Mean), float64(form.RMSE), float64(form.Bias)
	return nil
}

// partForm is the JSON form of Part.
type partForm struct {
	*partFields
	Max  Float `json:"max"`
	Mean Float `json:"mean"`
}

// partFields is Part without its methods.
type partFields Part

// MarshalJSON writes errors that are not finite as Float does.
func (p Part) MarshalJSON() ([]byte, error) {
	return json.Marshal(partForm{(*partFields)(&p), Float(p.Max), Float(p.Mean)})
}

// UnmarshalJSON reads what MarshalJSON writes.
func (p *Part) UnmarshalJSON(text []byte) error {
	form := partForm{partFields: (*partFields)(p)}
	if err := json.Unmarshal(text, &form); err != nil {
		return err
	}
	p.Max, p.Mean = float64(form.Max), float64(form.Mean)
	return nil
}
