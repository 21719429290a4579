// Every number behind the verdicts on one case.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "reports/base/error.hpp"
#include "reports/base/words.hpp"
#include "reports/document/comparison/document.hpp"

namespace tidemark {
namespace {

constexpr std::size_t kMostGpus = 16;  // of a finding; --csv and --json have all

void put(std::vector<Block>& page, std::string text, std::size_t indent = 0) {
  page.emplace_back(Line{.text = {std::move(text)}, .indent = indent});
}

std::string counts_text(const SideCount& count) {
  return fmt::format("{} pass, {} bad, {} waived, {} without an answer, {} skipped{}", count.pass,
                     count.bad, count.waived, count.lacking, count.skipped,
                     count.is_flaky() ? " (flaky)" : "");
}

void put_results(std::vector<Block>& page, const Comparison& comparison, std::size_t which) {
  SideCount sides[2];
  for (const bool fresh : {false, true}) {
    SideCount& sum = sides[fresh ? 1 : 0];
    for (std::size_t gpu = 0; gpu < comparison.pairing.gpus.size(); ++gpu) {
      const SideCount one = count_of(comparison.pairing, which, gpu, fresh);
      sum.pass += one.pass;
      sum.bad += one.bad;
      sum.lacking += one.lacking;
      sum.skipped += one.skipped;
      sum.waived += one.waived;
      sum.flaky = sum.flaky || one.is_flaky();
    }
    put(page, fmt::format("{} results: {}", fresh ? "new " : "base", counts_text(sum)));
  }
  for (const ChangeGroup& group : comparison.conformance.groups) {
    if (std::ranges::find(group.cases, which) == group.cases.end()) continue;
    put(page,
        fmt::format("{}: on {}", name_of(group.kind), place_of(comparison.pairing, group.gpus)), 5);
  }
}

void put_launches(std::vector<Block>& page, const Comparison& comparison,
                  const SpeedFinding& finding) {
  const Pairing& pairing = comparison.pairing;
  put(page, "  launch                                     value shared shift          own weight");
  const double sign = finding.higher_is_better ? 1 : -1;
  const std::vector<double> weights = weights_in(comparison.speed.effects, finding);
  double mean = 0;
  std::size_t n = 0;
  for (std::size_t i = 0; i < pairing.launches.size(); ++i) {
    if (std::isnan(finding.launches[i])) continue;
    mean += finding.launches[i] - comparison.speed.effects.shift[i];
    ++n;
  }
  mean = n == 0 ? 0 : mean / static_cast<double>(n);
  for (std::size_t i = 0; i < pairing.launches.size(); ++i) {
    const double value = finding.launches[i], shift = comparison.speed.effects.shift[i];
    constexpr std::size_t kTail = 32;
    const std::string& path = pairing.launches[i]->path;
    put(page,
        fmt::format("  {} {:<32} {:>10} {:>12} {:>12} {:>6.2f}", i < pairing.base ? "base" : "new ",
                    path.size() > kTail ? path.substr(path.size() - kTail) : path,
                    short_number(std::exp(sign * value)), percent(shift),
                    percent(value - shift - mean), weights[i]));
  }
  if (!finding.own.left_out.empty())
    put(page, "  weight 0: an odd launch, far from the others of its side, left out");
}

void put_tests(std::vector<Block>& page, const Comparison& comparison,
               const SpeedFinding& finding) {
  const Effect& own = finding.own;
  put(page, fmt::format("  effect {} in all = {} shared by all cases and {} of its own",
                        percent(finding.total), percent(finding.total - own.effect),
                        percent(own.effect)));
  put(page,
      fmt::format("  own: standard error {:.3g}, spread of a launch {:.3g} with {:.3g} "
                  "degrees of freedom, 95 % within +- {}",
                  own.standard_error, own.spread, own.degrees, percent(own.margin())),
      7);
  if (!finding.reference.empty()) {
    put(page, "  others of the model, 5th to 95th percentile: " + finding.reference);
  }
  put(page, fmt::format("  p {:.3g}, after Benjamini-Hochberg over {} metrics {:.3g}", own.p,
                        comparison.speed.effects.rows.size(), own.q));
  put(page, fmt::format("  least effect that counts {}, losses above {} excluded (95 %, one-sided)",
                        percent(finding.floor), percent(finding.loss_limit)));
  put(page,
      fmt::format("  would have been seen 8 times of 10: {}", percent(finding.smallest_seen)));
}

void put_metric(std::vector<Block>& page, const Comparison& comparison,
                const SpeedFinding& finding) {
  put(page, "");
  put(page, fmt::format("{}: {}{}{}", finding.metric, name_of(finding.verdict),
                        finding.why.empty() ? "" : ": ", finding.why));
  put(page, fmt::format("  base {}, new {} {} on {}, {} left out", short_number(finding.base_value),
                        short_number(finding.fresh_value), finding.unit,
                        plural(finding.gpus, "GPU"), finding.gpus_left_out));
  if (finding.verdict == SpeedVerdict::not_compared) return;
  put_launches(page, comparison, finding);
  put_tests(page, comparison, finding);
}

}  // namespace

std::vector<Block> explanation_of(const Comparison& comparison, std::string_view name) {
  const auto& cases = comparison.pairing.cases;
  const auto at = std::ranges::lower_bound(cases, name);
  if (at == cases.end() || *at != name) {
    throw ReportError(
        fmt::format("--explain '{}': no report has this case; 'tidemark show' lists them", name));
  }
  const auto which = static_cast<std::uint32_t>(at - cases.begin());
  std::vector<Block> page;
  put(page, *at);
  put_results(page, comparison, which);
  for (const SpeedFinding& finding : comparison.speed.series) {
    if (finding.of_case == which) put_metric(page, comparison, finding);
  }
  for (const GpuFinding& finding : comparison.speed.gpus) {
    if (finding.of_case != which && finding.of_case != kAllMetrics) continue;
    const auto [least, most] = finding.range();
    put(page,
        fmt::format("{} {} {}, {} in all: {}",
                    finding.metric.empty() ? "all metrics together" : finding.metric,
                    name_of(finding.verdict), finding.alone ? "by itself" : "unlike the other GPUs",
                    percents(least, most), place_of(comparison.pairing, finding.gpus)),
        5);
    for (std::size_t i = 0; i < std::min(finding.gpus.size(), kMostGpus); ++i) {
      const GpuChange& change = finding.changes[i];
      put(page,
          fmt::format("  {}: {} in all, own {} +- {}, q {:.3g}",
                      place_of(comparison.pairing, {finding.gpus[i]}), percent(change.total),
                      percent(change.own.effect), percent(change.own.margin()), change.own.q),
          7);
    }
  }
  return page;
}

}  // namespace tidemark
