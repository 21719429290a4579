// Every heuristic once, rested; then all that are near the fastest in turn, at work and rested.
#include "kernels/cuda/gemm/opponent/heuristics.hpp"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <limits>

#include "kernels/cuda/check.hpp"
#include "kernels/cuda/gemm/tuning/duel.hpp"
#include "kernels/error.hpp"

namespace tidemark {
namespace {

/// Times the fastest of the first look, within which a heuristic may still be the fastest: where
/// they are rested and at work, in another order.
constexpr double kNear = 1.06;

double first_look_ns(const Product& product, const Launch& launch, double rest_s) {
  try {
    (void)time_of(product, 1, launch);  // a kernel's first launch also loads it
    const int launches = launches_for(time_of(product, 2, launch), kRestedSampleNs);
    const double first = sample_rested(product, launch, launches, rest_s);
    return std::min(first, sample_rested(product, launch, launches, rest_s));
  } catch (const StickyError&) {
    throw;
  } catch (const Error&) {  // a heuristic may name what cuBLASLt then refuses
    return std::numeric_limits<double>::infinity();
  }
}

/// One of `near`, whose `ns` is the least; fills in all of them.
int fastest(const std::vector<int>& near, const std::vector<std::vector<double>>& samples,
            double Heuristic::*ns, std::vector<Heuristic>& all) {
  int best = near.front();
  for (std::size_t i = 0; i < near.size(); ++i) {
    Heuristic& one = all[static_cast<std::size_t>(near[i])];
    one.*ns = median(samples[i]);
    if (one.*ns < all[static_cast<std::size_t>(best)].*ns) best = near[i];
  }
  return best;
}

}  // namespace

Ranking rank_heuristics(const Product& product, const Opponent& opponent, int rounds,
                        double settle_s, double rest_s) {
  Ranking ranking;
  double least = std::numeric_limits<double>::infinity();
  for (int which = 0; which < opponent.algorithms(); ++which) {
    const double ns = first_look_ns(
        product, [&] { opponent.launch(which); }, rest_s);
    ranking.all.push_back({.first_look_ns = ns});
    least = std::min(least, ns);
  }
  if (std::isinf(least)) throw Error("cuBLASLt refuses every algorithm that its heuristics name");
  std::vector<int> near;
  for (int which = 0; which < opponent.algorithms(); ++which)
    if (ranking.all[static_cast<std::size_t>(which)].first_look_ns <= kNear * least)
      near.push_back(which);

  const int at_work_launches = launches_for(least, kAtWorkSampleNs);
  const int rested_launches = launches_for(least, kRestedSampleNs);
  std::vector<std::vector<double>> at_work(near.size()), rested(near.size());
  for (int round = 0; round < rounds; ++round)
    for (std::size_t i = 0; i < near.size(); ++i) {
      const Launch launch = [&] { opponent.launch(near[i]); };
      at_work[i].push_back(sample_at_work(product, launch, at_work_launches, settle_s));
    }
  for (int round = 0; round < rounds; ++round)
    for (std::size_t i = 0; i < near.size(); ++i) {
      const Launch launch = [&] { opponent.launch(near[i]); };
      rested[i].push_back(sample_rested(product, launch, rested_launches, rest_s));
    }
  ranking.at_work = fastest(near, at_work, &Heuristic::at_work_ns, ranking.all);
  ranking.rested = fastest(near, rested, &Heuristic::rested_ns, ranking.all);
  return ranking;
}

}  // namespace tidemark
