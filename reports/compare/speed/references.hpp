// What GPUs of a model have of each metric: two equally sick sides are the same, and lie below it.
#pragma once

#include <compare>
#include <cstddef>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "reports/compare/launch_facts.hpp"

namespace tidemark {

struct Comparison;

struct ReferenceKey {
  std::string product, of_case, metric, unit;
  std::size_t gpus = 1;  // that work on one thing together

  auto operator<=>(const ReferenceKey&) const = default;
};

/// Percentiles of one value a GPU and launch, in the unit of the metric.
struct Reference {
  std::size_t values = 0;
  double p5 = 0, p50 = 0, p95 = 0;
};

using References = std::map<ReferenceKey, Reference>;

/// Of what passed in these launches; as JSON that read_references takes. Throws ReportError where a
/// launch is of the virtual device, was slowed on purpose, or is there twice.
std::string references_json(const std::vector<LaunchFacts>& launches);

/// Throws ReportError, with `name`, where the text is no such JSON.
References read_references(std::string_view json, const std::string& name);

/// Those of the reports that ci/baselines/usual.txt lists, which the program carries:
/// references.json is what `tidemark export --format references` writes of them.
const References& committed_references();

/// Beyond p5 or p95, to the slow side, by more than this a GPU is named.
inline constexpr double kReferenceSlack = 0.05;

/// Says beside each metric what the model has, and in Comparison::below_reference which GPUs are
/// slower than that.
void hold_against(Comparison& comparison, const References& references);

}  // namespace tidemark
