package ops

// notExecuted says, by family of the table, why the emulator does not execute the instructions.
var notExecuted = map[string]string{
	"texture":       "a launch cannot describe textures",
	"surface":       "a launch cannot describe surfaces",
	"narrow":        "the emulator has no formats of 4 and 6 bits and no random rounding",
	"scaled":        "how the tensor cores of Blackwell round sums is not known",
	"blackwellcopy": "the emulator has no gathered rows, paired blocks, byte masks and launch control",
	"tcgen05":       "the emulator has no tensor memory",
}

// NotExecuted returns why the emulator does not execute a family of the table, or "".
func NotExecuted(family string) string { return notExecuted[family] }
