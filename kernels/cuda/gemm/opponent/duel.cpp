#include "kernels/cuda/gemm/opponent/duel.hpp"

#include <algorithm>
#include <chrono>
#include <thread>
#include <vector>

namespace tidemark {
namespace {

constexpr std::chrono::milliseconds kRest(150);

double quartiles_apart(std::vector<double> values) {
  std::sort(values.begin(), values.end());
  return values[values.size() * 3 / 4] - values[values.size() / 4];
}

using Sample = std::function<double(const Launch&)>;

Score duel(const Sample& sample, const Launch& theirs, const Launch& ours, int pairs) {
  std::vector<double> before, between, behind, ratios;
  for (int pair = 0; pair < pairs; ++pair) {
    before.push_back(sample(theirs));
    between.push_back(sample(ours));
    behind.push_back(sample(theirs));
    ratios.push_back((before.back() + behind.back()) / 2 / between.back());
  }
  const double first = median(before);
  const double second = median(behind);
  return {.ours_ns = median(between),
          .theirs_ns = (first + second) / 2,
          .ratio = median(ratios),
          .spread = quartiles_apart(ratios),
          .drift = second / first - 1};
}

}  // namespace

Score duel_steady(const Product& product, const Launch& theirs, const Launch& ours, int launches,
                  double settle_s, int pairs) {
  const Sample sample = [&](const Launch& launch) {
    const std::chrono::duration<double> settle(settle_s);
    const auto start = std::chrono::steady_clock::now();
    do (void)time_of(product, launches, launch);
    while (std::chrono::steady_clock::now() - start < settle);
    return time_of(product, launches, launch);
  };
  return duel(sample, theirs, ours, pairs);
}

Score duel_cool(const Product& product, const Launch& theirs, const Launch& ours, int launches,
                int pairs) {
  const Sample sample = [&](const Launch& launch) {
    std::this_thread::sleep_for(kRest);
    return time_of(product, launches, launch);
  };
  return duel(sample, theirs, ours, pairs);
}

int launches_for(double ns, double sample_ns) {
  return std::clamp(static_cast<int>(sample_ns / std::max(ns, 1.0)), 2, 1000);
}

}  // namespace tidemark
