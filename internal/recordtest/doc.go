// Package recordtest makes synthetic records for the tests of packages that keep and show
// records. Its numbers come from a random generator, and its GPU is called synthetic, so that
// nobody takes them for measurements.
//
//	r := recordtest.New("stage1")
//	recordtest.Correct(r, problem.Square(1, 8, 512, 64), 0.01)
//	v := recordtest.Judge(hash, at, record.Correct, "", "correct, not timed: no GPU")
//
// [Campaign] adds a whole ladder, with kernels for most outcomes.
package recordtest
