// Every heuristic once, rested; then all that are near the fastest in turn, rested and at work.
#include "ci/lab/gemm/heuristics.hpp"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <limits>

#include "kernels/cuda/check.hpp"
#include "kernels/error.hpp"

namespace tidemark {
namespace {

/// Times the fastest of the first look, within which a heuristic may still be the fastest: where
/// they are rested and at work, in another order.
constexpr double kNear = 1.06;
/// The same at work, by samples of kLookSeconds, which differ by 2 % for one and the same.
constexpr double kNearAtWork = 1.03;
constexpr double kLookSeconds = 0.4;

double first_look_ns(const Product& product, const Launch& launch, double rest_s) {
  try {
    (void)time_of(product, 1, launch);  // a kernel's first launch also loads it
    const double ns = time_of(product, 2, launch);
    const double first = sample_rested(product, launch, ns, rest_s);
    return std::min(first, sample_rested(product, launch, ns, rest_s));
  } catch (const StickyError&) {
    throw;
  } catch (const Error&) {  // a heuristic may name what cuBLASLt then refuses
    return std::numeric_limits<double>::infinity();
  }
}

/// One of `near`, whose `ns` is the least.
int fastest(const std::vector<int>& near, const std::vector<Heuristic>& all,
            double Heuristic::*ns) {
  return *std::min_element(near.begin(), near.end(), [&](int left, int right) {
    return all[static_cast<std::size_t>(left)].*ns < all[static_cast<std::size_t>(right)].*ns;
  });
}

}  // namespace

Ranking rank_heuristics(const Product& product, const Opponent& opponent, int rounds, double rest_s,
                        const AtWork& at_work) {
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

  const auto heuristic = [&](int which) -> Heuristic& {
    return ranking.all[static_cast<std::size_t>(which)];
  };
  std::vector<std::vector<double>> rested(near.size());
  for (int round = 0; round < rounds; ++round)
    for (std::size_t i = 0; i < near.size(); ++i) {
      const Launch launch = [&] { opponent.launch(near[i]); };
      rested[i].push_back(sample_rested(product, launch, least, rest_s));
    }
  for (std::size_t i = 0; i < near.size(); ++i) heuristic(near[i]).rested_ns = median(rested[i]);
  ranking.rested = fastest(near, ranking.all, &Heuristic::rested_ns);

  warm_up(
      product, [&] { opponent.launch(ranking.rested); }, least, kWarmSeconds);
  const auto time_at_work = [&](double measure_s) {
    for (const int which : near) {
      const Launch launch = [&] { opponent.launch(which); };
      const AtWork look{.settle_s = at_work.settle_s, .measure_s = measure_s};
      heuristic(which).at_work_ns = sample_at_work(product, launch, least, look).ns;
    }
    return fastest(near, ranking.all, &Heuristic::at_work_ns);
  };
  const double best_ns = heuristic(time_at_work(kLookSeconds)).at_work_ns;
  std::erase_if(near,
                [&](int which) { return heuristic(which).at_work_ns > kNearAtWork * best_ns; });
  ranking.at_work = time_at_work(at_work.measure_s);
  return ranking;
}

}  // namespace tidemark
