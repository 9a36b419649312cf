package isa

import "fmt"

// tensorMemoryProducts returns the products with sums in tensor memory: for one and two blocks, for
// a dense and a sparse A, and for A in shared and in tensor memory.
func tensorMemoryProducts() (all []*Form) {
	for _, sp := range []string{"", ".sp"} {
		meta := ""
		if sp != "" {
			meta = ", [spMeta:tmem]"
		}
		for _, a := range []string{"aDesc:b64", "[aTmem:tmem]"} {
			for group := 1; group <= 2; group++ {
				p := memoryProduct{fmt.Sprintf("tcgen05.mma%s.cta_group::%d", sp, group), "[dTmem:tmem], " + a + ", bDesc:b64" + meta + ", idesc:b32", a != "aDesc:b64"}
				all = append(all, p.plain(4*group)...)
				all = append(all, p.scaled())
			}
			p := memoryProduct{"tcgen05.mma.ws" + sp + ".cta_group::1", "[dTmem:tmem], " + a + ", bDesc:b64" + meta + ", idesc:b32", false}
			all = append(all, p.weightStationary()...)
		}
	}
	return all
}

// memoryProduct is the start of the syntax of a product: the opcode and the operands.
type memoryProduct struct {
	opcode, operands string
	shifts           bool // the rows of A may be shifted
}

// collectorA says how long A stays in the collector buffer.
var collectorA = set("collector", "collector::a::fill collector::a::use collector::a::lastuse collector::a::discard")

// plain returns the products without scales. masks is the number of words that disable rows of the
// result.
func (p memoryProduct) plain(masks int) []*Form {
	mods := ".kind{.collector} "
	opts := options(collectorA)
	if p.shifts {
		mods = ".kind{.ashift}{.collector} "
		opts = options(collectorA, when("ashift=ashift", "collector=collector::a::lastuse collector::a::discard -"))
	}
	syntax := fmt.Sprintf("%s%s%s{, disableOutputLane:b32[%d]}, enableInputD:pred!", p.opcode, mods, p.operands, masks)
	return []*Form{
		form(syntax+"{, scaleInputD:imm(0..15)}", set("kind", "kind::f16 kind::tf32"), opts, tensorMemoryNeeds),
		form(syntax, set("kind", "kind::f8f6f4"), opts, tensorMemoryNeeds),
		form(syntax, set("kind", "kind::i8"), opts, inTargets(86, 100, 110)),
	}
}

// scaled returns the product whose factors have a scale for each block of elements.
func (p memoryProduct) scaled() *Form {
	return form(p.opcode+".kind.block_scale{.scale}{.collector} "+p.operands+", [scaleA:tmem], [scaleB:tmem], enableInputD:pred!",
		set("kind", "kind::mxf8f6f4 kind::mxf4 kind::mxf4nvf4"), set("scale", "scale_vec::1X scale_vec::2X scale_vec::4X block16 block32"),
		when("kind=kind::mxf8f6f4", "scale=scale_vec::1X block32 -"), when("kind=kind::mxf4", "scale=scale_vec::2X block32 -"),
		when("kind=kind::mxf4nvf4", "scale=scale_vec::2X scale_vec::4X block16 block32"),
		need("block16 block32", 100, 88), collectorA, tensorMemoryNeeds)
}

// collectorB says which of four collector buffers B is in, and how long it stays there.
var collectorB = set("collector", func() (buffers string) {
	for b := range 4 {
		for _, op := range []string{"fill", "use", "lastuse", "discard"} {
			buffers += fmt.Sprintf(" collector::b%d::%s", b, op)
		}
	}
	return buffers
}())

// weightStationary returns the products that keep B in collector buffers.
func (p memoryProduct) weightStationary() []*Form {
	syntax := p.opcode + ".kind{.collector} " + p.operands + ", enableInputD:pred!{, zeroColumnMask:b64}"
	return []*Form{
		form(syntax, set("kind", "kind::f16 kind::tf32 kind::f8f6f4"), collectorB, tensorMemoryNeeds),
		form(syntax, set("kind", "kind::i8"), collectorB, inTargets(86, 100, 110)),
	}
}
