package problem

import "encoding/json"

// form is the JSON form of a problem. Attention embeds Shape, whose MarshalText would
// otherwise write the whole problem as a shape.
type form struct {
	Shape   Shape   `json:"shape"`
	Format  Format  `json:"format"`
	FormatQ Format  `json:"format_q,omitempty"`
	Output  Format  `json:"output"`
	Scaling Scaling `json:"scaling"`
	Layout  Layout  `json:"layout"`
	Causal  bool    `json:"causal,omitempty"`
	LSE     bool    `json:"lse,omitempty"`
	Scale   float64 `json:"scale,omitempty"`
	Window  Window  `json:"window,omitzero"`
	Softcap float64 `json:"softcap,omitempty"`
	Sinks   bool    `json:"sinks,omitempty"`
	Masked  bool    `json:"masked,omitempty"`

	MaskBits bool `json:"mask_bits,omitempty"`

	Bias Format   `json:"bias,omitempty"`
	Rope Rotation `json:"rope,omitempty"`

	Queries      Placement `json:"queries,omitempty"`
	Keys         Placement `json:"keys,omitempty"`
	Appends      bool      `json:"appends,omitempty"`
	ScaleBlockQ  int       `json:"scale_block_q,omitempty"`
	ScaleBlockKV int       `json:"scale_block_kv,omitempty"`
	Batch        Batch     `json:"batch,omitzero"`
	Gaps         Gaps      `json:"gaps,omitzero"`
}

// MarshalJSON writes the problem with its defaults filled in.
func (a Attention) MarshalJSON() ([]byte, error) {
	a = a.Filled()
	return json.Marshal(form{a.Shape, a.Format, a.FormatQ, a.Output, a.Scaling, a.Layout, a.Causal, a.LSE, a.Scale, a.Window, a.Softcap, a.Sinks, a.Masked, a.MaskBits, a.Bias, a.Rope, a.Queries, a.Keys, a.Appends, a.ScaleBlockQ, a.ScaleBlockKV, a.Batch, a.Gaps})
}

// UnmarshalJSON reads what MarshalJSON writes. Fields that are left out have their
// defaults.
func (a *Attention) UnmarshalJSON(text []byte) error {
	var f form
	if err := json.Unmarshal(text, &f); err != nil {
		return err
	}
	*a = Attention{f.Shape, f.Format, f.FormatQ, f.Output, f.Scaling, f.Layout, f.Causal, f.LSE, f.Scale, f.Window, f.Softcap, f.Sinks, f.Masked, f.MaskBits, f.Bias, f.Rope, f.Queries, f.Keys, f.Appends, f.ScaleBlockQ, f.ScaleBlockKV, f.Batch, f.Gaps}.Filled()
	return a.Check()
}

// MarshalText writes the JSON form. It hides the MarshalText of Shape, which would write
// only the shape.
func (a Attention) MarshalText() ([]byte, error) { return a.MarshalJSON() }

// UnmarshalText reads what MarshalText writes.
func (a *Attention) UnmarshalText(text []byte) error { return a.UnmarshalJSON(text) }
