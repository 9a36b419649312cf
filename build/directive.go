package build

import "github.com/GOATnote-Inc/attest/ptx"

// directive adds a performance-tuning directive once.
func (k *Kernel) directive(name string, args ...int) {
	for _, d := range k.directives {
		if d.Name == name {
			k.errorf("%s was given already", name)
			return
		}
	}
	d := &ptx.Directive{Name: name}
	for _, a := range args {
		if a < 1 {
			k.errorf("%s takes positive numbers, not %d", name, a)
			return
		}
		d.Args = append(d.Args, ptx.ImmOp(int64(a)))
	}
	k.directives = append(k.directives, d)
}

// MaxNTid is .maxntid: the largest block that the kernel is launched with, per dimension.
// ptxas chooses the number of registers by it.
func (k *Kernel) MaxNTid(n ...int) { k.directive(".maxntid", n...) }

// ReqNTid is .reqntid: the only block size that the kernel is launched with.
func (k *Kernel) ReqNTid(n ...int) { k.directive(".reqntid", n...) }

// MinNCTAPerSM is .minnctapersm: how many blocks must fit on a multiprocessor. A kernel
// that uses setmaxnreg needs it, or MaxNReg.
func (k *Kernel) MinNCTAPerSM(n int) { k.directive(".minnctapersm", n) }

// MaxNReg is .maxnreg: the most registers that a thread may have.
func (k *Kernel) MaxNReg(n int) { k.directive(".maxnreg", n) }

// ReqNCTAPerCluster is .reqnctapercluster: the size of the cluster, per dimension.
func (k *Kernel) ReqNCTAPerCluster(n ...int) {
	k.directive(".reqnctapercluster", n...)
}

// ExplicitCluster is .explicitcluster: the launch must name a cluster size.
func (k *Kernel) ExplicitCluster() { k.directive(".explicitcluster") }

// MaxClusterRank is .maxclusterrank: the most blocks that a cluster may have.
func (k *Kernel) MaxClusterRank(n int) { k.directive(".maxclusterrank", n) }
