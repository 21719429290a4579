// Finds results that say the same.
#include "reports/render/groups.hpp"

#include <algorithm>
#include <map>
#include <tuple>

namespace tidemark::reports {
namespace {

void sort_unique(std::vector<std::uint32_t>& numbers) {
  std::sort(numbers.begin(), numbers.end());
  numbers.erase(std::unique(numbers.begin(), numbers.end()), numbers.end());
}

}  // namespace

bool is_quiet(Verdict verdict) {
  return verdict == Verdict::skip || verdict == Verdict::waived || verdict == Verdict::not_run;
}

bool is_listed(Verdict verdict) { return is_quiet(verdict) && verdict != Verdict::waived; }

int rank_of(Verdict verdict) {
  constexpr int kAll = static_cast<int>(kVerdicts);
  if (verdict == Verdict::pass) return 2 * kAll;
  return static_cast<int>(verdict) + (is_quiet(verdict) ? kAll : 0);
}

std::vector<ResultGroup> result_groups(const Report& report, bool with_passes) {
  // Rank of the verdict, case (kNoRow: several), reason.
  using Key = std::tuple<int, std::uint32_t, std::uint32_t>;
  std::map<Key, ResultGroup> groups;
  for (std::uint32_t i = 0; i < report.results.size(); ++i) {
    const ResultRow& result = report.results[i];
    if (result.verdict == Verdict::pass && !with_passes) continue;
    const std::uint32_t of_case = is_listed(result.verdict) ? kNoRow : result.case_id;
    ResultGroup& group = groups[{rank_of(result.verdict), of_case, result.reason}];
    group.verdict = result.verdict;
    group.results.push_back(i);
    group.cases.push_back(result.case_id);
    group.gpus.push_back(result.gpu_id);
  }
  std::map<std::uint32_t, std::vector<std::uint32_t>> of_result;
  for (std::uint32_t i = 0; i < report.miscompares.size(); ++i) {
    of_result[report.miscompares[i].result_id].push_back(i);
  }
  std::vector<ResultGroup> made;
  made.reserve(groups.size());
  for (auto& [key, group] : groups) {
    sort_unique(group.cases);
    sort_unique(group.gpus);
    const auto miscompares = of_result.find(report.results[group.results.front()].result_id);
    if (miscompares != of_result.end()) group.miscompares = miscompares->second;
    made.push_back(std::move(group));
  }
  return made;
}

}  // namespace tidemark::reports
