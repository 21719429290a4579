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

/// Nanoseconds of a launch, over `launches` behind `settle_s` of the same kernel, untimed: the
/// power limit moves the clock for tenths of a second, and a sample that comes sooner pays for what
/// was drawn before.
double sample_at_work(const Product& product, const Launch& launch, int launches, double settle_s);

/// The same on a chip that has rested for `rest_s`.
double sample_rested(const Product& product, const Launch& launch, int launches, double rest_s);

/// Theirs, ours, theirs, a sample_at_work() each, without a pause.
PairTimes pair_at_work(const Product& product, const Launch& theirs, const Launch& ours,
                       int launches, double settle_s);

/// The same of sample_rested().
PairTimes pair_rested(const Product& product, const Launch& theirs, const Launch& ours,
                      int launches, double rest_s);

/// Launches that make a sample of about `sample_ns`, at `ns` each.
int launches_for(double ns, double sample_ns);

}  // namespace tidemark
