// Looks for GPUs, for nodes, and for GPUs that are a little slow in everything.
#include "reports/compare/speed/outliers.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <set>
#include <span>
#include <utility>

#include "reports/base/statistics.hpp"
#include "reports/base/words.hpp"
#include "reports/compare/pairing.hpp"
#include "reports/compare/speed/moderated.hpp"

namespace tidemark {
namespace {

// Of normal values a MAD is as good as 37 of 100 of them under a standard deviation.
constexpr double kMadEfficiency = 0.37;

/// One metric: a value a peer (GPU or node), NaN where there is none.
struct Row {
  std::vector<double> values;
  double middle = kNoNumber, spread = 0, degrees = 0;
};

/// One peer of one row.
struct Judged {
  double distance = kNoNumber, z = 0;
  double q = kNoNumber;  // NaN: above every bound that is asked about

  bool apart(double floor, double false_discovery) const {
    return std::abs(distance) >= floor && q < false_discovery;
  }
};

void estimate(Row& row) {
  std::vector<double> known, distances;
  known.reserve(row.values.size());
  distances.reserve(row.values.size());
  std::ranges::copy_if(row.values, std::back_inserter(known),
                       [](double value) { return !std::isnan(value); });
  if (known.size() < kFewestPeers) return;
  row.middle = median_of(known);
  for (const double value : known) distances.push_back(std::abs(value - row.middle));
  const auto n = static_cast<double>(known.size());
  // The MAD of few values is too small by about this much.
  row.spread = 1.4826 * n / (n - 0.8) * median_of(distances);
  row.degrees = kMadEfficiency * (n - 1);
}

/// Draws each spread towards what most rows have.
void moderate(std::vector<Row>& rows) {
  std::vector<double> variances;
  for (const Row& row : rows) {
    if (row.degrees > 0) variances.push_back(row.spread * row.spread);
  }
  if (variances.size() < kFewestRowsForShift) return;
  const double common = median_of(variances);
  for (Row& row : rows) {
    if (!(row.degrees > 0)) continue;
    const double own = row.spread * row.spread;
    row.spread =
        std::sqrt((kPriorDegrees * common + row.degrees * own) / (kPriorDegrees + row.degrees));
    row.degrees += kPriorDegrees;
  }
}

/// Below it a z has a p above `bound`; remembered, as most rows have the same degrees.
class LeastZ {
 public:
  explicit LeastZ(double bound) : bound_(bound) {}
  double of(double degrees) {
    const auto [at, is_new] = known_.try_emplace(degrees);
    // A little less, so that rounding leaves nothing out.
    if (is_new) at->second = degrees > 0 ? 0.999 * student_upper(bound_ / 2, degrees) : 0;
    return at->second;
  }

 private:
  double bound_;
  std::map<double, double> known_;
};

/// Every peer of every row; Benjamini-Hochberg over all of them. A q is never below its p, and of
/// two million peers few have a p that a bound could let pass: only those are looked at.
std::vector<std::vector<Judged>> judged(std::vector<Row> rows, const OutlierPolicy& policy) {
  // Where all peers but one are equal there is no spread; what cannot matter stands in for it.
  const double least_spread = policy.floor / 10;
  LeastZ least_z(std::max(policy.false_discovery, policy.coarse_false_discovery));
  for (Row& row : rows) estimate(row);
  moderate(rows);
  std::vector<std::vector<Judged>> made;
  std::vector<double> p;
  std::vector<Judged*> asked;
  std::size_t all = 0;
  for (const Row& row : rows) {
    std::vector<Judged>& peers = made.emplace_back(row.values.size());
    const double far = least_z.of(row.degrees), spread = std::max(row.spread, least_spread);
    for (std::size_t i = 0; i < peers.size(); ++i) {
      peers[i].distance = row.values[i] - row.middle;
      peers[i].z = peers[i].distance / spread;
      if (std::isnan(peers[i].z) || !(row.degrees > 0)) continue;
      ++all;
      if (std::abs(peers[i].z) < far) continue;
      asked.push_back(&peers[i]);
      p.push_back(student_two_sided(peers[i].z, row.degrees));
    }
  }
  const std::vector<double> q = false_discovery_rates(p, all);
  for (std::size_t i = 0; i < q.size(); ++i) asked[i]->q = q[i];
  return made;
}

/// GPUs of one model, and what was measured on them.
struct Model {
  std::vector<std::uint32_t> gpus;            // rows of the facts
  std::vector<const SeriesOfLaunch*> series;  // by row
  std::vector<Row> rows;                      // logarithms, above for better
  std::vector<std::string> nodes;             // that have at least two of the GPUs
  std::vector<std::size_t> node_of;           // by GPU; nodes.size() for none
};

void place_nodes(Model& model, const LaunchFacts& facts) {
  std::map<std::string, std::size_t> count, number;
  for (const std::uint32_t gpu : model.gpus) ++count[facts.gpus[gpu].node];
  for (const auto& [node, gpus] : count) {
    if (gpus < 2 || node.empty()) continue;
    number[node] = model.nodes.size();
    model.nodes.push_back(node);
  }
  for (const std::uint32_t gpu : model.gpus) {
    const auto at = number.find(facts.gpus[gpu].node);
    model.node_of.push_back(at == number.end() ? model.nodes.size() : at->second);
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
    for (const SeriesOfLaunch& series : facts.series) {
      Row row;
      row.values.reserve(model.gpus.size());
      std::size_t known = 0;
      for (const std::uint32_t gpu : model.gpus) {
        const double sign = series.higher_is_better ? 1 : -1;
        row.values.push_back(sign * std::log(series.medians[gpu]));
        known += std::isnan(row.values.back()) ? 0U : 1U;
      }
      if (known < kFewestPeers) continue;
      model.series.push_back(&series);
      model.rows.push_back(std::move(row));
    }
    made.push_back(std::move(model));
  }
  return made;
}

/// By row, the median over each node's GPUs: one odd GPU is none of its node's.
std::vector<Row> node_rows(const Model& model) {
  std::vector<Row> made;
  std::vector<std::vector<double>> values(model.nodes.size());
  for (const Row& row : model.rows) {
    for (std::vector<double>& of_node : values) of_node.clear();
    for (std::size_t i = 0; i < row.values.size(); ++i) {
      if (model.node_of[i] == model.nodes.size() || std::isnan(row.values[i])) continue;
      values[model.node_of[i]].push_back(row.values[i]);
    }
    Row& medians = made.emplace_back();
    medians.values.reserve(values.size());
    for (std::vector<double>& of_node : values) {
      medians.values.push_back(of_node.size() < 2 ? kNoNumber : median_of(of_node));
    }
  }
  return made;
}

/// What lies apart: GPU (index into the model) and row, with its distance.
struct Apart {
  std::map<std::pair<std::size_t, std::size_t>, Judged> cells;

  void add(std::size_t gpu, std::size_t row, const Judged& one) {
    cells.try_emplace({gpu, row}, one);
  }
};

Apart apart_of(const Model& model, const std::vector<std::vector<Judged>>& gpus,
               const OutlierPolicy& policy) {
  Apart made;
  const auto nodes = judged(node_rows(model), policy);
  for (std::size_t row = 0; row < model.rows.size(); ++row) {
    for (std::size_t i = 0; i < model.gpus.size(); ++i) {
      const bool has_node = model.node_of[i] < model.nodes.size();
      // A node's finding stands for each of its GPUs that has a value.
      if (has_node && !std::isnan(gpus[row][i].distance)) {
        const Judged& node = nodes[row][model.node_of[i]];
        if (node.apart(policy.floor, policy.coarse_false_discovery)) made.add(i, row, node);
      }
      if (gpus[row][i].apart(policy.floor, policy.false_discovery)) made.add(i, row, gpus[row][i]);
    }
  }
  return made;
}

/// Each GPU's median distance over all its metrics, judged as one metric more.
std::vector<Judged> together_of(const Model& model, const std::vector<std::vector<Judged>>& gpus,
                                const OutlierPolicy& policy) {
  if (model.rows.size() < kFewestRowsForShift) return {};
  Row row;
  std::vector<double> distances;
  for (std::size_t i = 0; i < model.gpus.size(); ++i) {
    distances.clear();
    for (const auto& peers : gpus) {
      if (!std::isnan(peers[i].distance)) distances.push_back(peers[i].distance);
    }
    const bool enough = distances.size() >= kFewestRowsForShift;
    row.values.push_back(enough ? median_of(distances) : kNoNumber);
  }
  return judged({row}, policy).front();
}

class Grouping {
 public:
  Grouping(const LaunchFacts& facts, Outliers& into)
      : facts_(facts),
        into_(into),
        facts_alone_{facts},
        pairing_(pair_up(facts_alone_, {}, PairBy::uuid)) {
    for (std::uint32_t i = 0; i < pairing_.gpus.size(); ++i) place_[pairing_.gpus[i].number] = i;
  }

  void add(const Model& model, const std::vector<std::size_t>& gpus,
           const std::vector<std::size_t>& rows, const std::vector<Judged>& cells) {
    OutlierGroup made;
    std::vector<std::uint32_t> places;
    for (const std::size_t gpu : gpus) {
      made.gpus.push_back(facts_.gpus[model.gpus[gpu]].number);
      places.push_back(place_.at(made.gpus.back()));
    }
    std::ranges::sort(made.gpus);
    std::ranges::sort(places);
    made.place = place_of(pairing_, places);
    for (const std::size_t row : rows) {
      const SeriesOfLaunch& series = *model.series[row];
      made.metrics.push_back(facts_.cases[series.of_case] + "/" + series.name);
    }
    std::vector<double> distances;
    for (const Judged& cell : cells) {
      distances.push_back(cell.distance);
      if (std::abs(cell.z) > std::abs(made.z)) made.z = cell.z;
    }
    const auto [least, most] = std::ranges::minmax_element(distances);
    made.least = *least;
    made.most = *most;
    made.median = median_of(distances);
    made.slower = made.median < 0;
    into_.groups.push_back(std::move(made));
  }

 private:
  const LaunchFacts& facts_;
  Outliers& into_;
  std::vector<LaunchFacts> facts_alone_;
  Pairing pairing_;
  std::map<std::uint32_t, std::uint32_t> place_;  // by gpu_id
};

void add_groups(Grouping& grouping, const Model& model, const Apart& apart) {
  // By side and metrics: the GPUs that lie apart in just these.
  std::map<std::pair<std::size_t, bool>, std::vector<std::size_t>> rows_of;
  for (const auto& [key, cell] : apart.cells) {
    rows_of[{key.first, cell.distance < 0}].push_back(key.second);
  }
  std::map<std::pair<bool, std::vector<std::size_t>>, std::vector<std::size_t>> alike;
  for (const auto& [key, rows] : rows_of) alike[{key.second, rows}].push_back(key.first);
  for (const auto& [key, gpus] : alike) {
    std::vector<Judged> cells;
    for (const std::size_t gpu : gpus) {
      for (const std::size_t row : key.second) cells.push_back(apart.cells.at({gpu, row}));
    }
    grouping.add(model, gpus, key.second, cells);
  }
}

}  // namespace

Outliers outliers_of(const LaunchFacts& facts, const OutlierPolicy& policy) {
  Outliers made;
  const std::vector<Model> models = models_of(facts);
  if (models.empty()) return made;
  Grouping grouping(facts, made);
  for (const Model& model : models) {
    if (model.rows.empty()) continue;
    made.gpus += model.gpus.size();
    made.metrics = std::max(made.metrics, model.rows.size());
    const auto gpus = judged(model.rows, policy);
    const Apart apart = apart_of(model, gpus, policy);
    add_groups(grouping, model, apart);
    std::set<std::size_t> named;
    for (const auto& [key, cell] : apart.cells) named.insert(key.first);
    const std::vector<Judged> together = together_of(model, gpus, policy);
    for (std::size_t i = 0; i < together.size(); ++i) {
      if (!named.contains(i) && together[i].apart(policy.floor, policy.coarse_false_discovery)) {
        grouping.add(model, {i}, {}, {together[i]});
      }
    }
  }
  std::ranges::stable_sort(made.groups, [](const auto& a, const auto& b) {
    if (a.slower != b.slower) return a.slower;
    if (a.gpus.size() != b.gpus.size()) return a.gpus.size() > b.gpus.size();
    return std::abs(a.median) > std::abs(b.median);
  });
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
