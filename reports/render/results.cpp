// What did not pass: results of one case with one verdict and reason stand together.
#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <set>
#include <tuple>

#include "reports/render/parts.hpp"
#include "reports/store/ranges.hpp"

namespace tidemark {
namespace {

constexpr std::size_t kIndent = 5;

/// Verdicts that say nothing about the hardware: their results stand together over all cases.
bool is_quiet(Verdict verdict) {
  return verdict == Verdict::skip || verdict == Verdict::waived || verdict == Verdict::not_run;
}

/// What goes wrong first, then what did not run, passes last.
int rank_of(Verdict verdict) {
  constexpr int kAll = static_cast<int>(kVerdicts);
  if (verdict == Verdict::pass) return 2 * kAll;
  return static_cast<int>(verdict) + (is_quiet(verdict) ? kAll : 0);
}

Colour colour_of(Verdict verdict) {
  if (verdict == Verdict::pass) return Colour::green;
  return is_quiet(verdict) ? Colour::yellow : Colour::red;
}

struct Groups {
  // Rank of the verdict, case (kNoRow: several), reason.
  using Key = std::tuple<int, std::uint32_t, std::uint32_t>;
  std::map<Key, std::vector<const ResultRow*>> groups;
  std::map<std::uint32_t, std::vector<const MiscompareRow*>> miscompares;  // by result
};

Groups groups_of(const Report& report, bool with_passes) {
  Groups made;
  for (const ResultRow& result : report.results) {
    if (result.verdict == Verdict::pass && !with_passes) continue;
    const std::uint32_t of_case = is_quiet(result.verdict) ? kNoRow : result.case_id;
    made.groups[{rank_of(result.verdict), of_case, result.reason}].push_back(&result);
  }
  for (const MiscompareRow& row : report.miscompares) {
    made.miscompares[row.result_id].push_back(&row);
  }
  return made;
}

std::vector<std::uint32_t> gpus_of(const std::vector<const ResultRow*>& group) {
  std::set<std::uint32_t> gpus;
  for (const ResultRow* result : group) gpus.insert(result->gpu_id);
  return {gpus.begin(), gpus.end()};
}

std::string indented(std::string_view text) { return std::string(kIndent, ' ').append(text); }

void put_quiet(Page& page, const Report& report, const std::vector<const ResultRow*>& group,
               bool all) {
  constexpr std::size_t kNamed = 8;
  const ResultRow& first = *group.front();
  const std::string heading = heading_of(first.verdict);
  put(page, colour_of(first.verdict), heading.size(),
      fmt::format("{} {}: {}", heading,
                  group.size() == 1 ? "1 result" : grouped(group.size()) + " results",
                  report.text(first.reason)),
      kIndent);
  std::set<std::uint32_t> cases;
  for (const ResultRow* result : group) cases.insert(result->case_id);
  std::string names;
  std::size_t named = 0;
  for (const std::uint32_t id : cases) {
    if (!all && named == kNamed && cases.size() > kNamed + 1) break;
    names += fmt::format("{}{}", named++ == 0 ? "" : ", ", report.cases[id].name.view());
  }
  if (named < cases.size()) names += fmt::format(", and {} more", grouped(cases.size() - named));
  const auto gpus = gpus_of(group);
  const std::string where = gpus.size() == 1 ? place_of(report, gpus[0]) : "GPUs " + ranges(gpus);
  put(page, indented(fmt::format("{}; {}", names, where)), kIndent);
}

void put_ending(Page& page, const ResultRow& result) {
  std::string how;
  if (result.cuda_error != 0) how += fmt::format("CUDA error {}  ", result.cuda_error);
  if (result.signal != 0) how += fmt::format("signal {}  ", result.signal);
  if (result.exit_code != 0) how += fmt::format("exit code {}", result.exit_code);
  if (!how.empty()) put(page, indented(how), kIndent);
}

void put_miscompares(Page& page, const Report& report,
                     const std::vector<const MiscompareRow*>& miscompares) {
  constexpr std::size_t kShown = 3;
  const std::size_t shown = std::min(kShown, miscompares.size());
  for (std::size_t i = 0; i < shown; ++i) {
    const MiscompareRow& row = *miscompares[i];
    const std::string_view text = report.text(row.text);
    const std::string what =
        text.empty() ? fmt::format("expected {:#04x}, got {:#04x}", row.expected, row.actual)
                     : std::string(text);
    put(page,
        indented(fmt::format("row {} {}: {}: {}; {} wrong bytes from offset {}", row.row,
                             report.text(row.parameters), report.text(row.what), what,
                             grouped(row.wrong_bytes), grouped(row.first_offset))),
        kIndent + 2);
  }
  if (miscompares.size() > shown) {
    put(page, indented(fmt::format("and {} more miscompares in the report",
                                   grouped(miscompares.size() - shown))));
  }
}

void put_group(Page& page, const Report& report, const Groups& groups,
               const std::vector<const ResultRow*>& group) {
  const ResultRow& first = *group.front();
  const std::string heading = heading_of(first.verdict);
  const auto gpus = gpus_of(group);
  const std::string where = gpus.size() == 1
                                ? place_of(report, gpus[0])
                                : fmt::format("{} GPUs: {}; first {}", gpus.size(), ranges(gpus),
                                              place_of(report, first.gpu_id));
  put(page, colour_of(first.verdict), heading.size(),
      fmt::format("{} {}  on {}", heading, report.cases[first.case_id].name.view(), where),
      kIndent);
  if (first.verdict == Verdict::pass) return;
  put(page, indented(report.text(first.reason)), kIndent);
  put_ending(page, first);
  const auto miscompares = groups.miscompares.find(first.result_id);
  if (miscompares != groups.miscompares.end()) {
    put_miscompares(page, report, miscompares->second);
  }
  const std::string_view replay = report.text(first.replay);
  if (!replay.empty()) put_command(page, "replay: ", replay, kIndent);
}

}  // namespace

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

void put_results(Page& page, const Report& report, const ShowOptions& options) {
  const Groups groups = groups_of(report, options.all);
  if (!groups.groups.empty()) put(page, "");
  for (const auto& [key, group] : groups.groups) {
    if (is_quiet(group.front()->verdict)) {
      put_quiet(page, report, group, options.all);
    } else {
      put_group(page, report, groups, group);
    }
  }
}

}  // namespace tidemark
