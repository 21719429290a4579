// Scores of duels.
#include "ci/lab/gemm/gemm_tuning.hpp"

#include <algorithm>

namespace tidemark::kernels {
namespace {

double quartiles_apart(std::vector<double> values) {
  std::sort(values.begin(), values.end());
  return values[values.size() * 3 / 4] - values[values.size() / 4];
}

}  // namespace

double median(std::vector<double> values) {
  std::sort(values.begin(), values.end());
  return values.at(values.size() / 2);
}

DuelScore score_of(const std::vector<PairTimes>& pairs) {
  if (pairs.empty()) return {};
  std::vector<double> before, between, behind, ratios;
  for (const PairTimes& pair : pairs) {
    before.push_back(pair.before_ns);
    between.push_back(pair.ours_ns);
    behind.push_back(pair.behind_ns);
    ratios.push_back((pair.before_ns + pair.behind_ns) / 2 / pair.ours_ns);
  }
  const double first = median(before);
  const double second = median(behind);
  return {.ours_ns = median(between),
          .theirs_ns = (first + second) / 2,
          .ratio = median(ratios),
          .spread = quartiles_apart(ratios),
          .drift = second / first - 1,
          .pairs = pairs};
}

}  // namespace tidemark::kernels
