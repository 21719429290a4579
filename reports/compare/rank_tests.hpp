// Rank statistics beside the t test: they say whether one odd launch makes the verdict. They never
// decide: with few launches their least p is too large for any correction over many cases.
#pragma once

#include <span>

namespace tidemark::reports {

/// Exact two-sided p of Wilcoxon's rank sum (Mann and Whitney); ties get middle ranks, and the p is
/// then that of the nearest whole sum towards 1. NaN where a side is empty or has more than 50.
double rank_sum_p(std::span<const double> base, std::span<const double> fresh);

/// Hodges and Lehmann's shift: the median of all differences, new minus base.
double hodges_lehmann(std::span<const double> base, std::span<const double> fresh);

}  // namespace tidemark::reports
