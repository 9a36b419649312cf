package isa

import (
	"slices"
	"strconv"
	"strings"
)

// texture lists the reads of textures and the questions about textures and samplers.
var texture = &Family{
	Name:     "texture",
	Doc:      "reads of textures, and questions about textures and samplers",
	Forms:    slices.Concat(inst("d = the texels at the coordinates, filtered", textureReads()...), textureGathers, textureQueries),
	ReadOnly: true,
}

// geometry is a shape of textures and surfaces. Vectors of three elements are written with a fourth
// one, which is ignored.
type geometry struct {
	name      string
	coords    int
	offsets   int    // elements of the optional offset of the texels; 0 if there is none
	gradients int    // elements of the derivatives; 0 if there are none
	ctype     string // types of coordinates
}

var geometries = []geometry{
	{"1d", 1, 1, 1, "s32 f32"}, {"2d", 2, 2, 2, "s32 f32"}, {"3d", 4, 4, 4, "s32 f32"},
	{"a1d", 2, 1, 1, "s32 f32"}, {"a2d", 4, 2, 2, "s32 f32"},
	{"cube", 4, 0, 4, "f32"}, {"acube", 4, 0, 4, "f32"}, {"2dms", 4, 0, 0, "s32"}, {"a2dms", 4, 0, 0, "s32"},
}

// coordsOf returns the number of coordinates of a texture or a surface.
func coordsOf(geom string) int {
	for _, g := range geometries {
		if g.name == geom {
			return g.coords
		}
	}
	return 0
}

func textureReads() (all []*Form) {
	for _, g := range geometries {
		for ctype := range strings.FieldsSeq(g.ctype) {
			for _, result := range []string{".v4.dtype.ctype =d:dtype[4]", ".v2.f16x2.ctype =d:f16x2[2]"} {
				all = append(all, readsOf(g, ctype, result)...)
			}
		}
	}
	return all
}

// readsOf returns the reads of textures of one geometry with one type of coordinates. The level of
// detail has the type of the coordinates. Only coordinates in f32 allow a comparison of depths.
func readsOf(g geometry, ctype, result string) (all []*Form) {
	operands, rest := result+"{|p:pred}, [a:texture]", ""
	if g.offsets > 0 {
		rest = "{, e:s32[" + strconv.Itoa(g.offsets) + "]}"
	}
	if ctype == "f32" && g.name != "3d" { // which has no depth to compare with
		rest += "{, f:f32}"
	}
	geom := options(set("geom", g.name), set("ctype", ctype), set("dtype", "u32 s32 f32 f16"), textureNeeds(g), need("f16", 53, 42))
	all = append(all, form("tex.geom"+operands+rest, geom), form("tex.base.geom"+operands+rest, geom))
	if g.gradients > 0 { // several samples per texel exclude mipmaps
		gradient := "f32[" + strconv.Itoa(g.gradients) + "]"
		all = append(all, form("tex.level.geom"+operands+", lod:"+ctype+rest, geom),
			form("tex.grad.geom"+operands+", dPdx:"+gradient+", dPdy:"+gradient+rest, geom))
	}
	return all
}

func textureNeeds(g geometry) option {
	switch g.name {
	case "1d", "2d", "3d", "a1d", "a2d", "cube", "acube":
		return options(sm(20), isa(31))
	}
	return options(sm(30), isa(32))
}

var textureGathers = inst("d = one component of the four texels around the coordinates",
	form("tld4.comp.geom.v4.dtype.f32 =d:dtype[4]{|p:pred}, [a:texture]{, e:s32[2]}{, f:f32}",
		set("comp", "r g b a"), set("geom", "2d a2d"), set("dtype", "u32 s32 f32"), sm(20), isa(22)),
	form("tld4.comp.geom.v4.dtype.f32 =d:dtype[4]{|p:pred}, [a:texture]{, f:f32}",
		set("comp", "r g b a"), set("geom", "cube acube"), set("dtype", "u32 s32 f32"), sm(20), isa(22)))

var textureQueries = slices.Concat(
	inst("d = an attribute of the texture",
		form("txq.query.b32 =d, [a:opaque]", sm(20), isa(15),
			set("query", "width height depth channel_data_type channel_order normalized_coords array_size num_mipmap_levels num_samples"),
			need("array_size", 20, 41), need("num_mipmap_levels", 20, 41), need("num_samples", 20, 41)),
		form("txq.level.query.b32 =d, [a:opaque], lod:s32", set("query", "width height depth"), sm(30), isa(43))),
	inst("d = an attribute of the sampler",
		form("txq.query.b32 =d, [a:opaque]", set("query", "force_unnormalized_coords filter_mode addr_mode_0 addr_mode_1 addr_mode_2"), sm(20), isa(15))),
	inst("p = whether a is a texture, a sampler or a surface",
		form("istypep.kind =p:pred, a:u64", set("kind", "texref samplerref surfref"), sm(30), isa(40))),
)

// surface lists the accesses to surfaces.
var surface = &Family{
	Name:     "surface",
	Doc:      "loads, stores and reductions of surfaces",
	Forms:    slices.Concat(surfaceLoads, surfaceStores, surfaceReductions, surfaceQueries),
	ReadOnly: true,
}

// surfaceMode says what happens outside the surface.
var surfaceMode = options(set("mode", "trap clamp zero"), set("type", "b8 b16 b32 b64"), set("geom", "1d 2d 3d a1d a2d"),
	when("vec=v4", "type=b8 b16 b32"), wider(), sm(20), isa(30))

var surfaceLoads = inst("d = the bytes at the coordinates",
	form("suld.b.geom{.cop}{.vec}.type.mode =d:type[vec], [a:surface]", set("cop", "ca cg cs cv"), surfaceMode))

var surfaceStores = slices.Concat(
	inst("writes the bytes at the coordinates",
		form("sust.b.geom{.cop}{.vec}.type.mode [a:surface], c:type[vec]", set("cop", "wb cg cs wt"), surfaceMode)),
	inst("writes the sample at the coordinates, converted to the format of the surface",
		form("sust.p.geom{.vec}.b32.mode [a:surface], c:b32[vec]", set("mode", "trap clamp zero"), set("geom", "1d 2d 3d"), sm(20), isa(20))),
)

var surfaceReductions = slices.Concat(
	inst("combines the value at the coordinates with c, addressed by bytes",
		form("sured.b.op.geom.type.mode [a:surface], c", set("op", "add min max and or"), set("geom", "1d 2d 3d"), set("mode", "trap clamp zero"),
			set("type", "u32 u64 s32 b32 s64"), sm(20), isa(20), need("u64 s64", 50, 42),
			when("op=and or", "type=b32"), when("op=add", "type=u32 u64 s32"), when("op=min max", "type=u32 s32 u64 s64"))),
	inst("combines the sample at the coordinates with c",
		form("sured.p.op.geom.type.mode [a:surface], c", set("op", "add min max and or"), set("geom", "1d 2d 3d"), set("mode", "trap clamp zero"),
			set("type", "b32 b64"), sm(20), isa(20), need("b64", 50, 42), when("op=add and or", "type=b32"))),
)

var surfaceQueries = inst("d = an attribute of the surface",
	form("suq.query.b32 =d, [a:opaque]", set("query", "width height depth channel_data_type channel_order array_size memory_layout"), sm(20), isa(15),
		need("array_size memory_layout", 20, 42)))
