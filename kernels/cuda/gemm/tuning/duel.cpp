// Samples of two kernels in turn.
#include "kernels/cuda/gemm/tuning/duel.hpp"

#include <algorithm>
#include <chrono>
#include <thread>

namespace tidemark {

PairTimes pair_at_work(const Product& product, const Launch& theirs, const Launch& ours,
                       int launches, double settle_s) {
  const auto sample = [&](const Launch& launch) {
    const std::chrono::duration<double> settle(settle_s);
    const auto start = std::chrono::steady_clock::now();
    do (void)time_of(product, launches, launch);
    while (std::chrono::steady_clock::now() - start < settle);
    return time_of(product, launches, launch);
  };
  const double before = sample(theirs);
  const double between = sample(ours);
  return {.before_ns = before, .ours_ns = between, .behind_ns = sample(theirs)};
}

PairTimes pair_rested(const Product& product, const Launch& theirs, const Launch& ours,
                      int launches, double rest_s) {
  const auto sample = [&](const Launch& launch) {
    std::this_thread::sleep_for(std::chrono::duration<double>(rest_s));
    return time_of(product, launches, launch);
  };
  const double before = sample(theirs);
  const double between = sample(ours);
  return {.before_ns = before, .ours_ns = between, .behind_ns = sample(theirs)};
}

int launches_for(double ns, double sample_ns) {
  return std::clamp(static_cast<int>(sample_ns / std::max(ns, 1.0)), 2, 1000);
}

}  // namespace tidemark
