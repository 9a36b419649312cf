package emu

// Frame is where the local variables of the function that the lanes are in start in
// each thread's local memory: Value gives the address of one from there.
func (s *Step) Frame() uint64 { return s.f.local }

// Top is where a lane's stack ends: what lies behind it belongs to nobody.
func (s *Step) Top(lane int) uint64 { return s.f.top(lane) }
