// Package ordered runs independent pieces of work on all cores and hands their
// results over one at a time, in order.
package ordered
