// One kernel against another, sample by sample: the only way to time two kernels on a chip whose
// clock follows what it has just been doing.
#pragma once

#include <functional>

#include "kernels/cuda/gemm/opponent/cublaslt.hpp"

namespace tidemark {

/// What takes turns: starts one product on the product's stream.
using Launch = std::function<void()>;

/// Nanoseconds of one launch, median of all samples, and the ratio of theirs to ours.
struct Score {
  double ours_ns = 0, theirs_ns = 0;
  double ratio = 0;   // theirs over ours, each ours with the theirs beside it; median
  double spread = 0;  // of the ratios: third quartile less first
  double drift = 0;   // theirs, behind ours, against its own run before ours; the sign is kept
};

/// Theirs, ours, theirs, `pairs` times and without a pause. Every sample of `launches` begins
/// behind `settle_s` of the same kernel, untimed: the power limit moves the clock for tenths of a
/// second, and a sample that comes sooner pays for what the other side drew.
Score duel_steady(const Product& product, const Launch& theirs, const Launch& ours, int launches,
                  double settle_s, int pairs);

/// The same with `launches` at a time, each sample on a chip that has rested for 0.15 s.
Score duel_cool(const Product& product, const Launch& theirs, const Launch& ours, int launches,
                int pairs);

/// Launches that make a sample of about `sample_ns`, at `ns` each.
int launches_for(double ns, double sample_ns);

}  // namespace tidemark
