package ptx

import (
	"strconv"
	"strings"
)

// specials are the predefined registers. Programs mostly read a vector by component.
var specials = func() map[string]*Symbol {
	m := make(map[string]*Symbol)
	add := func(t Type, names string) {
		for n := range strings.FieldsSeq(names) {
			m[n] = &Symbol{Name: n, Kind: SpecialSymbol, Type: t}
		}
	}
	for _, v := range []string{"%tid", "%ntid", "%ctaid", "%nctaid",
		"%clusterid", "%nclusterid", "%cluster_ctaid", "%cluster_nctaid"} {
		for _, c := range []string{".x", ".y", ".z", ".w"} {
			add(U32, v+c)
		}
		m[v] = &Symbol{Name: v, Kind: SpecialSymbol, Type: U32, Vec: 4}
	}
	add(U32, "%laneid %warpid %nwarpid %smid %nsmid %clock %clock_hi "+
		"%lanemask_eq %lanemask_le %lanemask_lt %lanemask_ge %lanemask_gt "+
		"%cluster_ctarank %cluster_nctarank %dynamic_smem_size %total_smem_size %aggr_smem_size "+
		"%globaltimer_lo %globaltimer_hi %reserved_smem_offset_begin %reserved_smem_offset_end "+
		"%reserved_smem_offset_cap %reserved_smem_offset_0 %reserved_smem_offset_1")
	add(U64, "%gridid %clock64 %globaltimer %current_graph_exec")
	add(Pred, "%is_explicit_cluster")
	add(U32, "WARP_SZ")
	for i := range 32 {
		add(B32, "%envreg"+strconv.Itoa(i))
	}
	for i := range 8 {
		add(U32, "%pm"+strconv.Itoa(i))
		add(U64, "%pm"+strconv.Itoa(i)+"_64")
	}
	return m
}()

// Special returns the predefined register of that name (with % and component,
// "%tid.x"), or nil.
func Special(name string) *Symbol { return specials[name] }

// Specials returns the predefined registers, in no order.
func Specials() []*Symbol {
	list := make([]*Symbol, 0, len(specials))
	for _, s := range specials {
		list = append(list, s)
	}
	return list
}
