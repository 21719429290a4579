// Finds results that say the same.
#include "reports/render/groups.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <tuple>

#include "reports/render/named_sms.hpp"
#include "reports/store/ranges.hpp"

namespace tidemark::reports {
namespace {

void sort_unique(std::vector<std::uint32_t>& numbers) {
  std::sort(numbers.begin(), numbers.end());
  numbers.erase(std::unique(numbers.begin(), numbers.end()), numbers.end());
}

std::string reason_of(const Report& report, const std::vector<std::uint32_t>& results) {
  constexpr std::size_t kRanges = 8;
  const auto reason = [&report](std::uint32_t i) { return report.text(report.results[i].reason); };
  const std::string_view first = reason(results.front());
  if (std::all_of(results.begin(), results.end(), [&](auto i) { return reason(i) == first; })) {
    return std::string(first);
  }
  std::vector<std::uint32_t> sms;
  for (const std::uint32_t i : results) {
    const NamedSms named = named_sms(reason(i));
    sms.insert(sms.end(), named.sms.begin(), named.sms.end());
  }
  sort_unique(sms);
  return fmt::format("{} [SM{} {}]", named_sms(first).text, sms.size() == 1 ? "" : "s",
                     first_ranges(sms, kRanges));
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
  // Rank of the verdict, case (kNoRow: several), the first reason that says the same of any SMs.
  using Key = std::tuple<int, std::uint32_t, std::uint32_t>;
  std::map<Key, ResultGroup> groups;
  std::map<std::string, std::uint32_t> reasons;  // by their text without SMs
  for (std::uint32_t i = 0; i < report.results.size(); ++i) {
    const ResultRow& result = report.results[i];
    if (result.verdict == Verdict::pass && !with_passes) continue;
    const std::uint32_t of_case = is_listed(result.verdict) ? kNoRow : result.case_id;
    const std::uint32_t reason =
        reasons.try_emplace(named_sms(report.text(result.reason)).text, result.reason)
            .first->second;
    ResultGroup& group = groups[{rank_of(result.verdict), of_case, reason}];
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
    group.reason = reason_of(report, group.results);
    const auto miscompares = of_result.find(report.results[group.results.front()].result_id);
    if (miscompares != of_result.end()) group.miscompares = miscompares->second;
    made.push_back(std::move(group));
  }
  return made;
}

}  // namespace tidemark::reports
