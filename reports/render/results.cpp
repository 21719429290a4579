// What did not pass: results of one case with one verdict and reason stand together.
#include <fmt/format.h>

#include <algorithm>

#include "reports/render/groups.hpp"
#include "reports/render/parts.hpp"
#include "reports/store/ranges.hpp"

namespace tidemark::reports {
namespace {

constexpr std::size_t kIndent = 5;

Colour colour_of(Verdict verdict) {
  if (verdict == Verdict::pass) return Colour::green;
  return is_quiet(verdict) ? Colour::yellow : Colour::red;
}

std::string indented(std::string_view text) { return std::string(kIndent, ' ').append(text); }

void put_quiet(Page& page, const Report& report, const ResultGroup& group, bool all) {
  constexpr std::size_t kNamed = 8;
  const ResultRow& first = report.results[group.results.front()];
  const std::string heading = heading_of(first.verdict);
  put(page, colour_of(first.verdict), heading.size(),
      fmt::format("{} {}: {}", heading, plural(group.results.size(), "result"), group.reason),
      kIndent);
  const std::vector<std::uint32_t>& cases = group.cases;
  std::string names;
  std::size_t named = 0;
  for (const std::uint32_t id : cases) {
    if (!all && named == kNamed && cases.size() > kNamed + 1) break;
    names += fmt::format("{}{}", named++ == 0 ? "" : ", ", report.cases[id].name.view());
  }
  if (named < cases.size()) names += fmt::format(", and {} more", grouped(cases.size() - named));
  const std::vector<std::uint32_t>& gpus = group.gpus;
  const std::string where = gpus.size() == 1 ? place_of(report, gpus[0]) : "GPUs " + ranges(gpus);
  put(page, indented(fmt::format("{}; {}", names, where)), kIndent);
}

void put_miscompares(Page& page, const Report& report,
                     const std::vector<std::uint32_t>& miscompares, bool all) {
  constexpr std::size_t kShown = 3;
  const std::size_t shown = all ? miscompares.size() : std::min(kShown, miscompares.size());
  for (std::size_t i = 0; i < shown; ++i) {
    const MiscompareRow& row = report.miscompares[miscompares[i]];
    put(page,
        indented(fmt::format("row {} {}: {}: {}; {} wrong bytes from offset {}", row.row,
                             report.text(row.parameters), report.text(row.what),
                             text_of(report, row), grouped(row.wrong_bytes),
                             grouped(row.first_offset))),
        kIndent + 2);
  }
  if (miscompares.size() > shown) {
    put(page, indented(fmt::format("and {} more miscompares in the report",
                                   grouped(miscompares.size() - shown))));
  }
}

void put_group(Page& page, const Report& report, const ResultGroup& group,
               const ShowOptions& options) {
  const ResultRow& first = report.results[group.results.front()];
  const std::string heading = heading_of(first.verdict);
  const std::vector<std::uint32_t>& gpus = group.gpus;
  const std::string where = gpus.size() == 1
                                ? place_of(report, gpus[0])
                                : fmt::format("{} GPUs: {}; first {}", gpus.size(), ranges(gpus),
                                              place_of(report, first.gpu_id));
  put(page, colour_of(first.verdict), heading.size(),
      fmt::format("{} {}  on {}", heading, report.cases[first.case_id].name.view(), where),
      kIndent);
  if (first.verdict == Verdict::pass) return;
  put(page, indented(group.reason), kIndent);
  const std::string ending = ending_of(first);
  if (!ending.empty()) put(page, indented(ending), kIndent);
  put_miscompares(page, report, group.miscompares, options.all);
  const std::string_view replay = report.text(first.replay);
  if (!replay.empty()) put_command(page, "replay: ", replay, kIndent);
  const std::string command = program_command(options, group.results.front());
  if (!command.empty()) put_command(page, "program: ", command, kIndent);
}

}  // namespace

std::string program_command(const ShowOptions& options, std::uint32_t result_id) {
  return options.replayed_by ? options.replayed_by(result_id) : std::string();
}

std::string ending_of(const ResultRow& result) {
  std::string how;
  if (result.cuda_error != 0) how += fmt::format("CUDA error {}  ", result.cuda_error);
  if (result.signal != 0) how += fmt::format("signal {}  ", result.signal);
  if (result.exit_code != 0) how += fmt::format("exit code {}", result.exit_code);
  return how;
}

std::string text_of(const Report& report, const MiscompareRow& row) {
  const std::string_view text = report.text(row.text);
  return text.empty() ? fmt::format("expected {:#04x}, got {:#04x}", row.expected, row.actual)
                      : std::string(text);
}

std::string heading_of(Verdict verdict) {
  std::string made(name_of(verdict));
  for (char& c : made) c = c == '_' ? ' ' : static_cast<char>(c - 'a' + 'A');
  return made;
}

std::string place_of(const Report& report, std::uint32_t gpu_id) {
  constexpr std::size_t kUuidDigits = 12;  // "GPU-" and eight digits tell the GPUs of a fleet apart
  const GpuRow& gpu = report.gpus[gpu_id];
  if (gpu.reported == 0) return fmt::format("GPU {} (never reported)", gpu_id);
  std::string made = fmt::format("GPU {} (", gpu_id);
  if (gpu.node_id != kNoRow) {
    made += fmt::format("{}, ", report.text(report.nodes[gpu.node_id].hostname));
  }
  const std::string_view uuid = gpu.uuid.view();
  const bool hashed = uuid.starts_with("GPU-anon-");
  return made +
         fmt::format("slot {}, {})", gpu.local_index, hashed ? uuid : uuid.substr(0, kUuidDigits));
}

void put_waivers(Page& page, const Report& report) {
  // A policy file allows no longer texts; a report may hold anything.
  constexpr std::size_t kLongest = 1500;
  const std::vector<std::string> waivers = waiver_lines(report);
  if (!waivers.empty()) put(page, "");
  for (const std::string& waiver : waivers) {
    const std::string_view heading = "waiver";
    const bool attention = waiver.starts_with("stale:") || waiver.starts_with("expired:") ||
                           waiver.starts_with("not judged:");
    put(page, attention ? Colour::yellow : Colour::none, heading.size(),
        fmt::format("{} {}{}", heading, waiver.substr(0, kLongest),
                    waiver.size() > kLongest ? "..." : ""),
        kIndent);
  }
}

void put_results(Page& page, const Report& report, const ShowOptions& options) {
  constexpr std::size_t kShown = 30;
  const std::vector<ResultGroup> groups = result_groups(report, options.all);
  if (!groups.empty()) put(page, "");
  const std::size_t shown = options.all ? groups.size() : std::min(kShown, groups.size());
  for (std::size_t i = 0; i < shown; ++i) {
    if (is_listed(groups[i].verdict)) {
      put_quiet(page, report, groups[i], options.all);
    } else {
      put_group(page, report, groups[i], options);
    }
  }
  put_left_out(page, groups.size() - shown, "finding");
}

}  // namespace tidemark::reports
