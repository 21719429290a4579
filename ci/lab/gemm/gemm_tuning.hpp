// How a configuration of the GEMM engine does beside what it is held against.
#pragma once

#include <vector>

namespace tidemark::kernels {

/// Nanoseconds of one launch: ours, and what it is held against before and behind it.
struct PairTimes {
  double before_ns = 0, ours_ns = 0, behind_ns = 0;
};

/// The upper one of the two in the middle where their number is even. There is at least one.
double median(std::vector<double> values);

/// A duel, of all its pairs.
struct DuelScore {
  double ours_ns = 0, theirs_ns = 0;  // median
  double ratio = 0;   // of times, theirs over ours, each ours with the theirs beside it; median
  double spread = 0;  // of the ratios: third quartile less first
  double drift = 0;   // theirs, behind ours, against its own run before ours; the sign is kept
  std::vector<PairTimes> pairs = {};  // as they were timed
};

/// Of no pairs all zeros.
DuelScore score_of(const std::vector<PairTimes>& pairs);

/// Drift above which a duel is void: the chip changed more than the figure is worth.
inline constexpr double kVoidDrift = 0.02;

}  // namespace tidemark::kernels
