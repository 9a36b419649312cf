package build

// MbarrierWait waits until the phase of the given parity of the mbarrier has completed. It
// is a loop around mbarrier.try_wait.parity. A barrier starts in phase 0; a wait for
// parity 1 then returns at once, as if an earlier phase had ended.
// Needs sm_90 and PTX 7.8.
func (k *Kernel) MbarrierWait(bar SharedAddr, parity Int) {
	k.Until(func() Pred { return k.MbarrierTryWaitParity(bar, parity) })
}
