// Gathers evidence by GPU.
#include "reports/document/report/health.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <utility>

#include "reports/base/statistics.hpp"
#include "reports/base/words.hpp"
#include "reports/compare/speed/throttling.hpp"
#include "reports/document/report/document.hpp"
#include "reports/journal/hardware_events.hpp"
#include "reports/journal/record.hpp"

namespace tidemark::reports {
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
  std::stable_sort(order.begin(), order.end(), [](const auto& a, const auto& b) {
    return a.second->weight() > b.second->weight();
  });
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
  const auto slowest = std::max_element(
      busy.begin(), busy.end(), [](const auto& a, const auto& b) { return a.second < b.second; });
  return made + fmt::format("; slowest: {}, {} (median {})", place_of(report, slowest->first),
                            seconds_text(slowest->second), seconds_text(median_of(std::move(all))));
}

}  // namespace tidemark::reports
