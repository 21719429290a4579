// Results that say the same, and what points at sick hardware.
#include "reports/document/report/document.hpp"

#include <fmt/format.h>
#include <algorithm>
#include <charconv>
#include <cmath>
#include <functional>
#include <map>
#include <tuple>
#include <utility>

#include "reports/base/statistics.hpp"
#include "reports/base/words.hpp"
#include "reports/journal/hardware_events.hpp"
#include "reports/journal/record.hpp"

namespace tidemark {

// Finds results that say the same.

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
  std::ranges::sort(numbers);
  numbers.erase(std::unique(numbers.begin(), numbers.end()), numbers.end());
}

std::string reason_of(const Report& report, const std::vector<std::uint32_t>& results) {
  constexpr std::size_t kRanges = 8;
  const auto reason = [&report](std::uint32_t i) { return report.text(report.results[i].reason); };
  const std::string_view first = reason(results.front());
  if (std::ranges::all_of(results, [&](auto i) { return reason(i) == first; }))
    return std::string(first);
  const std::string text = named_sms(first).text;
  std::vector<std::uint32_t> sms;
  std::size_t others = 0;
  for (const std::uint32_t i : results) {
    const NamedSms named = named_sms(reason(i));
    if (named.text != text) ++others;
    if (named.text == text) sms.insert(sms.end(), named.sms.begin(), named.sms.end());
  }
  sort_unique(sms);
  const char* const what = sms.size() == 1 ? "SM" : "SMs";
  return text + (sms.empty() ? "" : fmt::format(" [{} {}]", what, first_ranges(sms, kRanges))) +
         (others == 0 ? "" : fmt::format("; {} for other reasons", plural(others, "result")));
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

std::vector<ResultGroup> result_groups(const Report& report, bool with_passes, bool each_reason) {
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
    const bool apart = each_reason || of_case == kNoRow;
    ResultGroup& group = groups[{rank_of(result.verdict), of_case, apart ? reason : kNoRow}];
    group.verdict = result.verdict;
    group.results.push_back(i);
    group.cases.push_back(result.case_id);
    group.gpus.push_back(result.gpu_id);
  }
  std::map<std::uint32_t, std::vector<std::uint32_t>> of_result;
  for (std::uint32_t i = 0; i < report.miscompares.size(); ++i)
    of_result[report.miscompares[i].result_id].push_back(i);
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

// Counts by family.

std::map<std::string_view, Family> families_of(const Report& report) {
  std::map<std::string_view, Family> made;
  for (const CaseRow& row : report.cases) made[family_of(row.name.view())];
  std::vector<const Family*> last(report.gpus.size());  // a fleet has millions of results
  for (const ResultRow& result : report.results) {
    Family& family = made[family_of(report.cases[result.case_id].name.view())];
    ++family.planned;
    if (result.verdict == Verdict::pass) ++family.passed;
    if (result.verdict == Verdict::skip) ++family.skipped;
    family.failed = family.failed || is_bad(result.verdict) || is_lacking(result.verdict);
    if (result.rows_run > 0 && std::exchange(last[result.gpu_id], &family) != &family)
      family.gpus.insert(result.gpu_id);
  }
  std::uint64_t bit = 1;  // of SmRow::families
  for (auto& [name, family] : made) {
    const auto has_it = [bit](const SmRow& row) { return (row.families & bit) != 0; };
    std::set<std::ptrdiff_t> visited = {};
    for (const std::uint32_t gpu : family.gpus)
      visited.insert(std::ranges::count_if(sms_of(report, gpu), has_it));
    if (!visited.empty()) family.sms = static_cast<std::size_t>(*visited.begin());
    bit <<= 1;
  }
  return made;
}

TextTable families_table(const Report& report, bool all) {
  TextTable made{
      .id = "families",
      .label = "families of cases",
      .columns = headings({"family", ">passed", ">skipped", ">planned", ">GPUs", ">SMs a GPU"})};
  const std::map<std::string_view, Family> families = families_of(report);
  for (const bool failed : {true, false}) {
    for (const auto& [name, of] : families) {
      if (failed != of.failed || !(failed || all)) continue;
      made.rows.push_back({text_cell(name), count_cell(of.passed), count_cell(of.skipped),
                           count_cell(of.planned), count_cell(of.gpus.size()),
                           of.sms == 0 ? text_cell("-") : count_cell(of.sms)});
      if (failed) made.rows.back()[1].tone = Tone::warn;
    }
  }
  return made;
}

// Gathers evidence by GPU.

namespace {

struct HardwareSigns {
  std::map<std::string, std::size_t> events;  // how often each
  std::uint64_t throttling = 0;               // all reasons seen
  std::size_t throttled = 0, results = 0;     // with them, and in all
  std::string memory;

  std::size_t weight() const {
    std::size_t sum = throttled;
    for (const auto& [text, times] : events) sum += times;
    return sum + (memory.empty() ? 0 : 1);
  }
};

std::string memory_text(const GpuRow& gpu) {
  std::string made;
  if (gpu.ecc_uncorrected == kUnknownCount<std::uint64_t>)
    made += "; uncorrected memory errors unknown";
  else if (gpu.ecc_uncorrected > 0)
    made += "; " + plural(gpu.ecc_uncorrected, "uncorrected memory error") + " before the launch";
  if (gpu.remapped_rows_pending == kUnknownCount<std::uint32_t>)
    made += "; memory rows to be remapped unknown";
  else if (gpu.remapped_rows_pending > 0)
    made += fmt::format("; {} to be remapped", plural(gpu.remapped_rows_pending, "memory row"));
  return made;
}

std::string line_of(const Report& report, std::uint32_t gpu, const HardwareSigns& signs) {
  constexpr std::size_t kTold = 3;  // kinds of events
  std::string made;
  std::size_t told = 0;
  for (const auto& [text, times] : signs.events) {
    if (told++ == kTold) break;
    made += "; " + text;
    if (times > 1) made += fmt::format(", {} times", grouped(times));
  }
  if (signs.events.size() > kTold)
    made += fmt::format(" and {}", plural(signs.events.size() - kTold, "other kind"));
  made += signs.memory;
  if (signs.throttled > 0)
    made += fmt::format("; clocks held down in {} of {} ({})", grouped(signs.throttled),
                        plural(signs.results, "result"), text_of_throttling(signs.throttling));
  return place_of(report, gpu) + made.replace(0, 1, ":");
}

std::map<std::uint32_t, HardwareSigns> evidence_of(const Report& report) {
  std::map<std::uint32_t, HardwareSigns> by_gpu;
  for (const EventRow& event : report.events) {
    if (event.gpu_id == kNoRow) continue;
    std::string text(report.text(event.text));
    if (const Xid* const xid = xid_of(report.text(event.source), event.code))
      text += fmt::format(" ({}: {})", xid->meaning, xid->action);
    ++by_gpu[event.gpu_id].events[text];
  }
  for (const GpuRow& gpu : report.gpus)
    if (const std::string text = memory_text(gpu); !text.empty()) by_gpu[gpu.gpu_id].memory = text;
  for (const ResultRow& result : report.results) {
    if (throttling_in(result.throttle_reasons)) {
      ++by_gpu[result.gpu_id].throttled;
      by_gpu[result.gpu_id].throttling |= result.throttle_reasons;
    }
    if ((result.throttle_reasons & kThrottlingUnknown) != 0)
      ++by_gpu[result.gpu_id].events["throttling unknown"];
  }
  for (const ResultRow& result : report.results)
    if (const auto found = by_gpu.find(result.gpu_id); found != by_gpu.end())
      ++found->second.results;
  return by_gpu;
}

std::string seconds_text(double seconds) {
  if (seconds < 120) return fmt::format("{:.3g} s", seconds);
  const auto minutes = static_cast<std::uint64_t>(std::lround(seconds / 60));
  if (minutes < 120) return fmt::format("{} min", minutes);
  return fmt::format("{} h {} min", minutes / 60, minutes % 60);
}

}  // namespace

std::vector<std::string_view> left_out_of(const Report& report) {
  std::vector<std::string_view> texts;
  for (const EventRow& event : report.events)
    if (report.text(event.source) == kLeftOut) texts.push_back(report.text(event.text));
  return texts;
}

std::vector<std::string> hardware_lines(const Report& report) {
  const std::map<std::uint32_t, HardwareSigns> by_gpu = evidence_of(report);
  std::vector<std::pair<std::uint32_t, const HardwareSigns*>> order;
  order.reserve(by_gpu.size());
  for (const auto& [gpu, signs] : by_gpu) order.emplace_back(gpu, &signs);
  std::ranges::stable_sort(order, std::greater{},
                           [](const auto& of) { return of.second->weight(); });
  std::vector<std::string> lines;
  for (const std::string_view text : left_out_of(report))
    lines.push_back(fmt::format("left out: {}", text));
  for (const auto& [gpu, signs] : order) lines.push_back(line_of(report, gpu, *signs));
  return lines;
}

std::string time_line(const Report& report) {
  double end = 0;
  std::map<std::uint32_t, double> busy;
  for (const ResultRow& result : report.results) {
    if (!(result.seconds > 0)) continue;
    end = std::max(end, result.start_unix_s + result.seconds);
    busy[result.gpu_id] += result.seconds;
  }
  const double took = end - report.launch.created_unix_s;
  if (busy.empty() || !(took > 0)) return {};
  std::string made = "took " + seconds_text(took);
  if (busy.size() == 1) return made;
  std::vector<double> all;
  all.reserve(busy.size());
  for (const auto& [gpu, seconds] : busy) all.push_back(seconds);
  const auto slowest = std::ranges::max_element(busy, {}, [](const auto& of) { return of.second; });
  return made + fmt::format("; slowest: {}, {} (median {})", place_of(report, slowest->first),
                            seconds_text(slowest->second), seconds_text(median_of(std::move(all))));
}

}  // namespace tidemark
