// The map of a comparison: rows are nodes, or GPUs where there are few; columns are cases.
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <map>
#include <optional>
#include <set>
#include <utility>

#include "reports/base/statistics.hpp"
#include "reports/base/words.hpp"
#include "reports/document/comparison/document.hpp"

namespace tidemark {
namespace {

/// What became of one case on the GPUs of one row.
struct Place {
  std::size_t alike = 0, changed = 0;  // pairs of case and GPU; alike: passed on both sides
  std::optional<ChangeKind> worst = {};
  std::vector<double> effects = {};  // by GPU, of its worst finding: natural logarithm
};

struct Grid {
  GpuRows rows;
  std::vector<std::vector<Place>> places = {};  // [row][case]
};

Grid rows_of(const Comparison& comparison) {
  std::vector<std::pair<std::string, std::uint32_t>> gpus;
  for (const PairedGpu& gpu : comparison.pairing.gpus) {
    gpus.emplace_back(gpu.node.empty() ? "no node" : gpu.node, gpu.number);
  }
  Grid made{.rows = gpu_rows(gpus)};
  made.places.assign(made.rows.names.size(), std::vector<Place>(comparison.pairing.cases.size()));
  return made;
}

void add_results(Grid& grid, const Comparison& comparison) {
  const Pairing& pairing = comparison.pairing;
  const std::size_t gpus = pairing.gpus.size();
  std::vector<bool> changed(pairing.cases.size() * gpus);
  for (const ChangeGroup& group : comparison.conformance.groups) {
    for (const std::uint32_t which : group.cases) {
      for (const std::uint32_t gpu : group.gpus) {
        Place& place = grid.places[grid.rows.of_gpu[gpu]][which];
        if (!changed[which * gpus + gpu]) ++place.changed;
        changed[which * gpus + gpu] = true;
        place.worst = std::min(place.worst.value_or(group.kind), group.kind);
      }
    }
  }
  for (std::size_t which = 0; which < pairing.cases.size(); ++which) {
    for (std::size_t gpu = 0; gpu < gpus; ++gpu) {
      if (changed[which * gpus + gpu]) continue;
      const bool passed = count_of(pairing, which, gpu, false).pass > 0 &&
                          count_of(pairing, which, gpu, true).pass > 0;
      grid.places[grid.rows.of_gpu[gpu]][which].alike += passed ? 1U : 0U;
    }
  }
}

/// What is sure, as the table of metrics has it, and of GPUs that have a line of their own that.
void add_effects(Grid& grid, const Comparison& comparison) {
  const SpeedComparison& speed = comparison.speed;
  std::map<std::pair<std::uint32_t, std::uint32_t>, double> worst;  // by case and GPU, of metrics
  const auto add = [&worst](SpeedVerdict verdict, std::uint32_t which, std::uint32_t gpu,
                            double effect) {
    if (!is_change(verdict)) return;
    const auto [at, first] = worst.try_emplace({which, gpu}, effect);
    if (!first) at->second = std::min(at->second, effect);
  };
  for (const SpeedFinding& finding : speed.series) {
    const bool shared = finding.verdict == SpeedVerdict::with_all;
    std::set<std::uint32_t> apart;
    for (const GpuFinding& one : speed.gpus) {
      if (!one.covers(finding.of_case, finding.metric)) continue;
      apart.insert(one.gpus.begin(), one.gpus.end());
      for (std::size_t i = 0; i < one.gpus.size(); ++i)
        add(one.verdict, finding.of_case, one.gpus[i], one.changes[i].total);
    }
    for (const std::uint32_t gpu : finding.mean_over) {
      if (apart.contains(gpu)) continue;
      add(shared ? speed.shared : finding.verdict, finding.of_case, gpu, finding.total);
    }
  }
  for (const auto& [of, effect] : worst)
    grid.places[grid.rows.of_gpu[of.second]][of.first].effects.push_back(effect);
}

/// One letter or sign a kind, no two alike: colours are not for everybody.
constexpr std::array<char, kChangeKinds> kMarks = {'F', 'f', 'M', 'm', 'B', 'D', '-',
                                                   'b', 'p', 's', 'w', 'r', '+'};

HeatKind kind_of(ChangeKind kind) {
  if (is_good(kind)) return HeatKind::good;
  return kind == ChangeKind::new_fail || kind == ChangeKind::flaky ? HeatKind::bad : HeatKind::warn;
}

/// From -1 (slower than before) to 1 (faster); 0 where nothing was measured.
double shade_of(const Place& place) {
  if (place.effects.empty()) return 0;
  return std::clamp(median_of(place.effects) / kFullShade, -1.0, 1.0);
}

HeatCell cell_of(const Place& place) {
  HeatCell cell;
  if (place.changed + place.alike == 0) return cell;
  cell.kind = place.worst ? kind_of(*place.worst) : HeatKind::good;
  cell.label = place.worst ? fmt::format("{} ({} of {} changed)", name_of(*place.worst),
                                         place.changed, place.changed + place.alike)
                           : "passes as before";
  if (place.worst) cell.mark = kMarks[static_cast<std::size_t>(*place.worst)];
  if (cell.kind != HeatKind::good) return cell;
  cell.shade = shade_of(place);
  if (!place.effects.empty()) {
    cell.label += fmt::format(", {} {}", percent(median_of(place.effects)),
                              place.effects.size() == 1 ? "than before" : "in the middle");
  }
  return cell;
}

/// How much there is to see: 0 changed for the worse, 1 much slower or faster, 2 other changes, 3
/// nothing.
int rank_of(const Place& place) {
  if (place.worst && !is_good(*place.worst) && *place.worst != ChangeKind::waived) return 0;
  if (std::abs(shade_of(place)) > 0.5) return 1;
  return place.worst ? 2 : kNothingToSee;
}

Legend legend() {
  std::string bad, warn, good = "passes as before";
  for (std::size_t i = 0; i < kChangeKinds; ++i) {
    const HeatKind kind = kind_of(static_cast<ChangeKind>(i));
    std::string& names = kind == HeatKind::bad ? bad : kind == HeatKind::good ? good : warn;
    names += fmt::format("{}{} {}", names.empty() ? "" : ", ", kMarks[i], kChangeKindNames[i]);
  }
  return {{{{"cell-good"}, good},
           {{"cell-bad"}, bad},
           {{"cell-warn"}, warn},
           {{"slower", "faster"},
            fmt::format("slower or faster than before, full at {:.0f} %", kFullShade * 100)}}};
}

}  // namespace

Section map_of(const Comparison& comparison, const ShowOptions& options) {
  Grid grid = rows_of(comparison);
  add_results(grid, comparison);
  add_effects(grid, comparison);
  const HeatMap names{.title = "changes by place and case",
                      .rows = grid.rows.names,
                      .columns = comparison.pairing.cases};
  Section made{
      .id = "map", .heading = "Where", .link = "where", .blocks = {legend()}, .readers = kOnPage};
  const auto at = [&](std::size_t row, std::size_t column) -> const Place& {
    return grid.places[row][column];
  };
  add_map(made, names,
          {.rank = [&](std::size_t row, std::size_t column) { return rank_of(at(row, column)); },
           .cell = [&](std::size_t row, std::size_t column) { return cell_of(at(row, column)); }},
          options);
  return made;
}

}  // namespace tidemark
