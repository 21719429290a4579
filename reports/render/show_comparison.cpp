// Chooses the renderer.
#include "reports/render/show_comparison.hpp"

#include "reports/render/junit.hpp"
#include "reports/render/render.hpp"

namespace tidemark::reports {

std::string show_comparison(const Comparison& comparison, const ShowOptions& options) {
  if (options.is(Format::json)) return comparison_json(comparison);
  if (options.is(Format::csv)) return comparison_csv(comparison);
  if (options.is(Format::junit)) {
    return junit_of("tidemark compare", tests_of(comparison, options.fail_on));
  }
  return rendered(document_of(comparison, options), options);
}

std::string explain_case(const Comparison& comparison, std::string_view name,
                         std::uint32_t columns) {
  return terminal_of(explanation_of(comparison, name), {.columns = columns});
}

}  // namespace tidemark::reports
