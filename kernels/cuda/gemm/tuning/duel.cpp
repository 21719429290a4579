// Samples of two kernels in turn.
#include "kernels/cuda/gemm/tuning/duel.hpp"

#include <algorithm>
#include <chrono>
#include <thread>

namespace tidemark {

double sample_at_work(const Product& product, const Launch& launch, int launches, double settle_s) {
  const std::chrono::duration<double> settle(settle_s);
  const auto start = std::chrono::steady_clock::now();
  do (void)time_of(product, launches, launch);
  while (std::chrono::steady_clock::now() - start < settle);
  return time_of(product, launches, launch);
}

double sample_rested(const Product& product, const Launch& launch, int launches, double rest_s) {
  std::this_thread::sleep_for(std::chrono::duration<double>(rest_s));
  return time_of(product, launches, launch);
}

PairTimes pair_at_work(const Product& product, const Launch& theirs, const Launch& ours,
                       int launches, double settle_s) {
  const double before = sample_at_work(product, theirs, launches, settle_s);
  const double between = sample_at_work(product, ours, launches, settle_s);
  return {.before_ns = before,
          .ours_ns = between,
          .behind_ns = sample_at_work(product, theirs, launches, settle_s)};
}

PairTimes pair_rested(const Product& product, const Launch& theirs, const Launch& ours,
                      int launches, double rest_s) {
  const double before = sample_rested(product, theirs, launches, rest_s);
  const double between = sample_rested(product, ours, launches, rest_s);
  return {.before_ns = before,
          .ours_ns = between,
          .behind_ns = sample_rested(product, theirs, launches, rest_s)};
}

int launches_for(double ns, double sample_ns) {
  return std::clamp(static_cast<int>(sample_ns / std::max(ns, 1.0)), 2, 1000);
}

}  // namespace tidemark
