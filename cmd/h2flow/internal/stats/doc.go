// Package stats sums up repeated measurements: medians, and intervals for medians by the bootstrap.
//
// Runs of two programs that alternate, A B A B, meet the same disturbances in pairs, so it is the ratio of each pair
// that is summed up, and not the ratio of two sums:
//
//	r := stats.Summarise(ratios)
//	fmt.Println(r.Median, r.Low, r.High)
//
// The bootstrap draws as many ratios as there are, with repetition, many times, and takes the median of each draw; the
// interval holds the middle 95 % of those medians. It assumes nothing about the distribution. Draws come from a fixed
// seed, so that the same measurements give the same interval.
//
// Fewer than five pairs give an interval that is hardly more than their range; it is still what the method says.
package stats
