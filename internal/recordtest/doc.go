// Package recordtest makes up records for tests of those who keep and show them. Its
// figures come from a random generator and its GPU is called synthetic, so that no one
// takes them for measurements.
//
//	r := recordtest.New("stage1")
//	recordtest.Correct(r, problem.Square(1, 8, 512, 64), 0.01)
//	v := recordtest.Judge(hash, at, record.Correct, "", "correct, not timed: no GPU")
//
// [Campaign] is a whole ladder, with a kernel for each outcome.
package recordtest
