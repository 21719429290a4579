// Looks a case up for its steps.
#include "harness/verbs/printed_beside.hpp"

#include <utility>

#include "suite/case.hpp"

namespace tidemark::harness {

PrintedBeside printed_beside(std::string_view case_name, std::string_view metric) {
  const Case* const which = case_named(case_name);
  if (which == nullptr || which->step == nullptr) return {};
  MetricStep step = which->step(metric);
  return {.over = std::move(step.over),
          .published = step.published,
          .published_by = std::string(step.published_by)};
}

}  // namespace tidemark::harness
