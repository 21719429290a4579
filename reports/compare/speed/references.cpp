// Percentiles by model, as JSON, and GPUs outside them.
#include "reports/compare/speed/references.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <nlohmann/json.hpp>
#include <set>

#include "reports/base/words.hpp"
#include "reports/compare/comparison.hpp"
#include "reports/compare/pairing.hpp"
#include "reports/compare/speed/series.hpp"

namespace tidemark {
namespace {

using Json = nlohmann::json;

ReferenceKey key_of(const LaunchFacts& facts, const SeriesOfLaunch& series, std::size_t gpu) {
  static const auto product = static_cast<std::size_t>(
      std::ranges::find(gpu_factor_names(), "product") - gpu_factor_names().begin());
  return {.product = facts.gpus[gpu].values[product],
          .of_case = facts.cases[series.of_case],
          .metric = series.name,
          .unit = series.unit,
          .gpus = facts.over_all_gpus[series.of_case] ? facts.gpus.size() : 1};
}

/// Between the two values beside it in order.
double percentile(const std::vector<double>& ascending, double share) {
  const double at = share * static_cast<double>(ascending.size() - 1);
  const auto below = static_cast<std::size_t>(at);
  const std::size_t above = std::min(below + 1, ascending.size() - 1);
  return ascending[below] + (at - std::floor(at)) * (ascending[above] - ascending[below]);
}

using Known = References::value_type;

/// One GPU in one metric: the geometric mean of each side's launches, beside what is known of the
/// GPU of that side; another side may be another model, or have another number of GPUs.
struct Held {
  std::array<double, 2> value = {};
  std::array<const Known*, 2> known = {};
};

Held held(const Pairing& pairing, const Sources& sources, std::size_t gpu,
          const References& references) {
  Held made;
  std::array<std::size_t, 2> n = {};
  for (std::size_t launch = 0; launch < sources.size(); ++launch) {
    const std::uint32_t row = pairing.gpu_rows[launch][gpu];
    if (sources[launch] == nullptr || row == kNoRow || std::isnan(sources[launch]->medians[row])) {
      continue;
    }
    const std::size_t side = launch < pairing.base ? 0 : 1;
    if (n[side] == 0) {
      const auto at = references.find(key_of(*pairing.launches[launch], *sources[launch], row));
      if (at != references.end()) made.known[side] = &*at;
    }
    made.value[side] += std::log(sources[launch]->medians[row]);
    ++n[side];
  }
  for (const std::size_t side : {0U, 1U}) {
    made.value[side] = std::exp(made.value[side] / static_cast<double>(n[side]));  // NaN of none
  }
  return made;
}

/// By how much, natural logarithm, a value is slower than what lies in the reference.
double below(double value, const Reference& reference, bool higher_is_better) {
  return higher_is_better ? std::log(reference.p5 / value) : std::log(value / reference.p95);
}

std::string text_of(const Reference& reference) {
  return fmt::format("{} to {}", short_number(reference.p5), short_number(reference.p95));
}

}  // namespace

std::string references_json(const std::vector<LaunchFacts>& launches) {
  std::map<ReferenceKey, std::vector<double>> all;
  std::map<std::string, std::string> paths;  // by run id
  for (const LaunchFacts& facts : launches) {
    const auto [seen, is_new] = paths.try_emplace(facts.launch.run_id, facts.path);
    if (!is_new) {
      throw ReportError(fmt::format("{}: is the same launch as {}; leave one of them out",
                                    facts.path, seen->second));
    }
    if (!facts.slowed.empty()) {
      throw ReportError(
          fmt::format("{}: {} was slowed on purpose, which is no reference; leave it out",
                      facts.path, facts.slowed.begin()->first));
    }
    if (facts.launch.is_virtual) {
      throw ReportError(fmt::format(
          "{}: was made on the virtual device, which is no reference for GPUs; leave it out",
          facts.path));
    }
    for (const SeriesOfLaunch& series : facts.series) {
      for (std::size_t gpu = 0; gpu < facts.gpus.size(); ++gpu) {
        const double value = series.medians[gpu];
        if (!std::isnan(value)) all[key_of(facts, series, gpu)].push_back(value);
      }
    }
  }
  std::string made;
  for (auto& [key, values] : all) {
    std::ranges::sort(values);
    const Json one = {{"product", key.product},
                      {"gpus", key.gpus},
                      {"case", key.of_case},
                      {"metric", key.metric},
                      {"unit", key.unit},
                      {"values", values.size()},
                      {"p5", percentile(values, 0.05)},
                      {"p50", percentile(values, 0.5)},
                      {"p95", percentile(values, 0.95)}};
    made += (made.empty() ? "[" : ",\n ") + one.dump(-1, ' ', true, Json::error_handler_t::replace);
  }
  return made.empty() ? "[]\n" : made + "]\n";
}

References read_references(std::string_view json, const std::string& name) {
  References made;
  const auto count = [](const Json& number) {
    if (!number.is_number_unsigned() || number == 0) throw ReportError("count");
    return number.get<std::size_t>();
  };
  try {
    const Json all = Json::parse(json);
    if (!all.is_array()) throw ReportError("no list");
    for (const Json& one : all) {
      const Reference reference{.values = count(one.at("values")),
                                .p5 = one.at("p5"),
                                .p50 = one.at("p50"),
                                .p95 = one.at("p95")};
      if (!(reference.p5 > 0 && reference.p50 >= reference.p5 && reference.p95 >= reference.p50)) {
        throw ReportError("percentiles");
      }
      const ReferenceKey key{.product = one.at("product"),
                             .of_case = one.at("case"),
                             .metric = one.at("metric"),
                             .unit = one.at("unit"),
                             .gpus = count(one.at("gpus"))};
      if (!made.try_emplace(key, reference).second) throw ReportError("given twice");
    }
  } catch (const std::exception&) {
    throw ReportError(fmt::format(
        "{}: holds no references; 'tidemark export --format references REPORTS' writes them",
        name));
  }
  return made;
}

void hold_against(Comparison& comparison, const References& references) {
  const Pairing& pairing = comparison.pairing;
  const auto all = sources_of(pairing);
  std::set<std::uint32_t> gpus;
  std::array<bool, 2> sides = {};
  std::size_t metrics = 0;
  double farthest = 0;
  std::string worst;
  for (SpeedFinding& finding : comparison.speed.series) {
    const Sources& sources = all.at({finding.of_case, finding.metric});
    bool any = false;
    for (std::uint32_t gpu = 0; gpu < pairing.gpus.size(); ++gpu) {
      const Held one = held(pairing, sources, gpu, references);
      for (const std::size_t side : {1U, 0U}) {
        if (one.known[side] == nullptr) continue;
        const auto& [key, reference] = *one.known[side];
        if (finding.reference.empty()) finding.reference = text_of(reference);
        const double by = below(one.value[side], reference, finding.higher_is_better);
        if (!(by > kReferenceSlack)) continue;
        any = sides[side] = true;
        gpus.insert(gpu);
        if (by <= farthest) continue;
        farthest = by;
        worst =
            fmt::format("{}/{} {} {}, {} has {}", key.of_case, key.metric,
                        short_number(one.value[side]), key.unit, key.product, text_of(reference));
      }
    }
    metrics += any ? 1U : 0U;
  }
  if (gpus.empty()) return;
  comparison.below_reference = fmt::format(
      "{}, {}: {}{}", place_of(pairing, {gpus.begin(), gpus.end()}),
      sides[0] && sides[1] ? "on both sides"
      : sides[1]           ? "in new"
                           : "in base",
      worst, metrics > 1 ? fmt::format("; and {}", plural(metrics - 1, "more metric")) : "");
}

}  // namespace tidemark
