// One kernel against another, sample by sample: the only way to time two kernels on a chip whose
// clock follows what it has just been doing.
#pragma once

#include <functional>

#include "kernels/cuda/gemm/tuning/product.hpp"
#include "kernels/gemm_tuning.hpp"

namespace tidemark {

/// What takes turns: starts one product on the product's stream.
using Launch = std::function<void()>;

inline constexpr double kAtWorkSampleNs = 60e6;
inline constexpr double kRestedSampleNs = 4e6;  // over before the power limit has noticed

/// Theirs, ours, theirs, without a pause. Every sample of `launches` begins behind `settle_s` of
/// the same kernel, untimed: the power limit moves the clock for tenths of a second, and a sample
/// that comes sooner pays for what the other side drew.
PairTimes pair_at_work(const Product& product, const Launch& theirs, const Launch& ours,
                       int launches, double settle_s);

/// The same with `launches` at a time, each sample on a chip that has rested for `rest_s`.
PairTimes pair_rested(const Product& product, const Launch& theirs, const Launch& ours,
                      int launches, double rest_s);

/// Launches that make a sample of about `sample_ns`, at `ns` each.
int launches_for(double ns, double sample_ns);

}  // namespace tidemark
