package check

import "github.com/GOATnote-Inc/attest/finding"

// The kinds that the checkers report.
const (
	SharedRace        finding.Kind = "shared-race"
	GlobalRace        finding.Kind = "global-race"
	AsyncRace         finding.Kind = "async-race"
	ProxyFence        finding.Kind = "proxy-fence"
	UninitShared      finding.Kind = "uninit-shared"
	UninitLocal       finding.Kind = "uninit-local"
	UninitRegister    finding.Kind = "uninit-register"
	OOBGlobal         finding.Kind = "oob-global"
	OOBShared         finding.Kind = "oob-shared"
	OOBLocal          finding.Kind = "oob-local"
	Misaligned        finding.Kind = "misaligned"
	BarrierDivergence finding.Kind = "barrier-divergence"
	Deadlock          finding.Kind = finding.Deadlock
	MbarrierMisuse    finding.Kind = "mbarrier-misuse"
	WgmmaHazard       finding.Kind = "wgmma-hazard"
	ShuffleInactive   finding.Kind = "shuffle-inactive"
	AsyncLeak         finding.Kind = "async-leak"
)

// Kinds are all kinds, in the order of the documents.
var Kinds = []finding.Kind{
	SharedRace, GlobalRace, AsyncRace, ProxyFence, UninitShared, UninitLocal, UninitRegister,
	OOBGlobal, OOBShared, OOBLocal, Misaligned, BarrierDivergence, Deadlock, MbarrierMisuse,
	WgmmaHazard, ShuffleInactive, AsyncLeak,
}
