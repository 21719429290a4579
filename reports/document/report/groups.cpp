// Finds results that say the same.
#include "reports/document/report/groups.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <map>
#include <tuple>

#include "reports/store/ranges.hpp"

namespace tidemark::reports {
namespace {

/// 4 and 17 of "4, 17"; none where it is no such list.
std::vector<std::uint32_t> numbers_of(std::string_view list) {
  constexpr std::string_view kBetween = ", ";
  std::vector<std::uint32_t> made;
  while (true) {
    std::uint32_t number = 0;
    const char* const end = list.data() + list.size();
    const auto [next, error] = std::from_chars(list.data(), end, number);
    if (error != std::errc()) return {};
    made.push_back(number);
    list.remove_prefix(static_cast<std::size_t>(next - list.data()));
    if (list.empty()) return made;
    if (!list.starts_with(kBetween)) return {};
    list.remove_prefix(kBetween.size());
  }
}

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

NamedSms named_sms(std::string_view text) {
  constexpr std::string_view kBegin = " [SM ";
  NamedSms made;
  while (true) {
    const std::size_t begin = text.find(kBegin);
    const std::size_t end = begin == text.npos ? text.npos : text.find(']', begin);
    if (end == text.npos) break;
    const std::size_t list = begin + kBegin.size();
    const std::vector<std::uint32_t> numbers = numbers_of(text.substr(list, end - list));
    made.text += text.substr(0, numbers.empty() ? end + 1 : begin);
    made.sms.insert(made.sms.end(), numbers.begin(), numbers.end());
    text.remove_prefix(end + 1);
  }
  made.text += text;
  return made;
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
