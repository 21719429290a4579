// Looks for GPUs and nodes that are slow or fast in everything, then in single metrics.
#include "reports/compare/speed/outliers.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <set>
#include <utility>

#include "reports/base/statistics.hpp"
#include "reports/base/words.hpp"
#include "reports/compare/pairing.hpp"
#include "reports/compare/speed/moderated.hpp"

namespace tidemark {
namespace {

/// GPUs of one model, and what was measured on them.
struct Model {
  std::vector<std::uint32_t> gpus;            // rows of the facts
  std::vector<const SeriesOfLaunch*> series;  // by row
  std::vector<std::vector<double>> rows;      // by GPU the distance from the median, above: better
  std::vector<std::vector<std::size_t>> nodes;  // GPUs of those that have at least two
};

void place_nodes(Model& model, const LaunchFacts& facts) {
  std::map<std::string, std::vector<std::size_t>> nodes;
  for (std::size_t i = 0; i < model.gpus.size(); ++i)
    nodes[facts.gpus[model.gpus[i]].node].push_back(i);
  for (auto& [node, gpus] : nodes)
    if (gpus.size() > 1 && !node.empty()) model.nodes.push_back(std::move(gpus));
}

void add_rows(Model& model, const LaunchFacts& facts) {
  for (const SeriesOfLaunch& series : facts.series) {
    std::vector<double> row;
    row.reserve(model.gpus.size());
    for (const std::uint32_t gpu : model.gpus)
      row.push_back((series.higher_is_better ? 1 : -1) * std::log(series.medians[gpu]));
    const Statistics of = statistics_of(row);
    if (of.finite < kFewestPeers) continue;
    for (double& value : row) value -= of.median;
    model.series.push_back(&series);
    model.rows.push_back(std::move(row));
  }
}

std::vector<Model> models_of(const LaunchFacts& facts) {
  constexpr std::size_t kProduct = kDriverFactors;  // it stands behind the drivers
  std::map<std::string, Model> by_name;
  for (std::uint32_t gpu = 0; gpu < facts.gpus.size(); ++gpu) {
    if (facts.gpus[gpu].uuid.empty()) continue;
    by_name[facts.gpus[gpu].values.at(kProduct)].gpus.push_back(gpu);
  }
  std::vector<Model> made;
  for (auto& [name, model] : by_name) {
    if (model.gpus.size() < kFewestPeers) continue;
    place_nodes(model, facts);
    add_rows(model, facts);
    if (!model.rows.empty()) made.push_back(std::move(model));
  }
  return made;
}

/// The median over the GPUs of each node: one odd GPU is none of its node's.
std::vector<double> of_nodes(const Model& model, const std::vector<double>& row) {
  std::vector<double> made;
  made.reserve(model.nodes.size());
  for (const std::vector<std::size_t>& gpus : model.nodes) {
    std::vector<double> values;
    values.reserve(gpus.size());
    for (const std::size_t gpu : gpus) values.push_back(row[gpu]);
    const Statistics of = statistics_of(std::move(values));
    made.push_back(of.finite < 2 ? kNoNumber : of.median);
  }
  return made;
}

/// What most rows scatter by.
Prior prior_of(const std::vector<std::vector<double>>& rows) {
  std::vector<double> variances;
  variances.reserve(rows.size());
  for (const std::vector<double>& row : rows)
    variances.push_back(std::pow(kMadToSd * statistics_of(row).mad, 2));
  return {.variance = rows.size() < kFewestRowsForShift ? kNoNumber : median_of(variances)};
}

/// GPUs (of the model) that are far off in one row, by themselves or as their node is.
using Far = std::map<std::size_t, FarValue>;

struct Priors {
  Prior gpus = {}, nodes = {};
};

Far far_in(const Model& model, const std::vector<double>& row, const Priors& priors, double alpha,
           std::size_t fewest, const OutlierPolicy& policy) {
  Far made;
  const auto far = [&](const std::vector<double>& values, const Prior& prior) {
    if (values.size() < fewest) return std::vector<FarValue>{};
    // Where all but one are equal there is no spread; what cannot matter stands in for it.
    std::vector<FarValue> all = far_values(values, prior, alpha, policy.floor / 10);
    std::erase_if(all,
                  [&](const FarValue& one) { return std::abs(values[one.at]) < policy.floor; });
    return all;
  };
  for (const FarValue& node : far(of_nodes(model, row), priors.nodes)) {
    for (const std::size_t gpu : model.nodes[node.at])
      if (!std::isnan(row[gpu])) made[gpu] = node;
  }
  for (const FarValue& gpu : far(row, priors.gpus)) made.try_emplace(gpu.at, gpu);
  return made;
}

/// By GPU the median over its metrics. Counts take no part: a GPU that is slow has the same.
std::vector<double> figures_of(const Model& model) {
  std::vector<double> made;
  for (std::size_t gpu = 0; gpu < model.gpus.size(); ++gpu) {
    std::vector<double> values;
    values.reserve(model.rows.size());
    for (std::size_t row = 0; row < model.rows.size(); ++row)
      if (!is_count(model.series[row]->unit)) values.push_back(model.rows[row][gpu]);
    made.push_back(statistics_of(std::move(values)).median);
  }
  return made;
}

/// What is far off, by side and metrics (none: all together): the GPUs of each group.
class Grouping {
 public:
  Grouping(const LaunchFacts& facts, const Model& model) : facts_(facts), model_(model) {}

  void add(std::size_t gpu, std::vector<std::size_t> rows, std::vector<double> distances,
           double z) {
    const bool slower = median_of(distances) < 0;
    Group& group = groups_[{slower, std::move(rows)}];
    group.gpus.push_back(gpu);
    group.distances.insert(group.distances.end(), distances.begin(), distances.end());
    if (std::abs(z) > std::abs(group.z)) group.z = z;
  }
  void move_to(std::vector<OutlierGroup>& made, const Pairing& pairing) const {
    for (const auto& [key, group] : groups_) {
      const auto [least, most] = std::ranges::minmax_element(group.distances);
      made.push_back({.slower = key.first,
                      .median = median_of(group.distances),
                      .least = *least,
                      .most = *most,
                      .z = group.z});
      std::vector<std::uint32_t> places;
      for (const std::size_t gpu : group.gpus) {
        const FactsOfGpu& of = facts_.gpus[model_.gpus[gpu]];
        made.back().gpus.push_back(of.number);
        const auto at = std::ranges::find(pairing.gpus, of.number, &PairedGpu::number);
        places.push_back(static_cast<std::uint32_t>(at - pairing.gpus.begin()));
      }
      std::ranges::sort(made.back().gpus);
      std::ranges::sort(places);
      made.back().place = place_of(pairing, places);
      for (const std::size_t row : key.second) {
        const SeriesOfLaunch& series = *model_.series[row];
        made.back().metrics.push_back(facts_.cases[series.of_case] + "/" + series.name);
      }
    }
  }

 private:
  struct Group {
    std::vector<std::size_t> gpus = {};
    std::vector<double> distances = {};
    double z = 0;
  };
  const LaunchFacts& facts_;
  const Model& model_;
  std::map<std::pair<bool, std::vector<std::size_t>>, Group> groups_;
};

/// Of one GPU in single metrics, on one side.
struct InMetrics {
  std::vector<std::size_t> rows = {};
  std::vector<double> distances = {};
  double z = 0;
};

void add_outliers(Grouping& grouping, Model& model, const OutlierPolicy& policy) {
  const std::vector<double> figures = figures_of(model);
  const Far in_all = far_in(model, figures, {}, policy.alpha, kFewestPeers, policy);
  for (const auto& [gpu, far] : in_all) {
    grouping.add(gpu, {}, {figures[gpu]}, far.z);
    for (std::size_t row = 0; row < model.rows.size(); ++row)  // what it is beyond that
      if (!is_count(model.series[row]->unit)) model.rows[row][gpu] -= figures[gpu];
  }
  std::vector<std::vector<double>> node_rows;
  node_rows.reserve(model.rows.size());
  for (const std::vector<double>& row : model.rows) node_rows.push_back(of_nodes(model, row));
  const Priors priors = {.gpus = prior_of(model.rows), .nodes = prior_of(node_rows)};
  const double alpha = policy.alpha / static_cast<double>(model.rows.size());
  std::map<std::pair<std::size_t, bool>, InMetrics> found;  // by GPU and side
  for (std::size_t row = 0; row < model.rows.size(); ++row) {
    for (const auto& [gpu, far] :
         far_in(model, model.rows[row], priors, alpha, kFewestInOneMetric, policy)) {
      InMetrics& one = found[{gpu, model.rows[row][gpu] < 0}];
      one.rows.push_back(row);
      one.distances.push_back(model.rows[row][gpu]);
      if (std::abs(far.z) > std::abs(one.z)) one.z = far.z;
    }
  }
  for (auto& [key, one] : found)
    grouping.add(key.first, std::move(one.rows), std::move(one.distances), one.z);
}

}  // namespace

Outliers outliers_of(const LaunchFacts& facts, const OutlierPolicy& policy) {
  Outliers made;
  std::vector<Model> models = models_of(facts);
  if (models.empty()) return made;
  const std::vector<LaunchFacts> alone{facts};
  const Pairing pairing = pair_up(alone, {}, PairBy::uuid);
  for (Model& model : models) {
    made.gpus += model.gpus.size();
    made.metrics = std::max(made.metrics, model.rows.size());
    Grouping grouping(facts, model);
    add_outliers(grouping, model, policy);
    grouping.move_to(made.groups, pairing);
  }
  std::ranges::stable_sort(made.groups, [](const auto& a, const auto& b) {
    if (a.slower != b.slower) return a.slower;
    if (a.gpus.size() != b.gpus.size()) return a.gpus.size() > b.gpus.size();
    return std::abs(a.median) > std::abs(b.median);
  });
  return made;
}

Outliers outliers_of(const Report& report) {
  try {
    return outliers_of(facts_of(report, "report"));
  } catch (const ReportError&) {  // a GPU or case twice: nobody can say which is which
    return {};
  }
}

std::vector<std::string> slower_outliers(const Report& report) {
  std::vector<std::string> made;
  for (const OutlierGroup& group : outliers_of(report).groups)
    if (group.slower) made.push_back(text_of(group));
  return made;
}

std::string text_of(const OutlierGroup& group) {
  constexpr std::size_t kNamed = 3;
  std::string named;
  for (std::size_t i = 0; i < std::min(kNamed, group.metrics.size()); ++i) {
    named += fmt::format("{}{}", i == 0 ? "" : ", ", group.metrics[i]);
  }
  if (group.metrics.size() > kNamed) named += ", ...";
  const std::string what =
      group.metrics.empty() ? "all metrics together" : plural(group.metrics.size(), "metric");
  const bool many = group.least != group.most;
  return fmt::format(
      "{} than the other GPUs: {}, {}: {}{} (z {:.1f}){}{}", group.slower ? "SLOWER" : "FASTER",
      group.place, what, percent(group.median),
      many ? fmt::format(" ({} to {})", percent(group.least), percent(group.most)) : "", group.z,
      named.empty() ? "" : ": ", named);
}

}  // namespace tidemark
