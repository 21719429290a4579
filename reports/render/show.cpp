// Reports, comparisons and histories in every format.
#include "reports/render/show.hpp"

#include "reports/document/report/document.hpp"
#include "reports/render/junit.hpp"
#include "reports/render/render.hpp"

namespace tidemark::reports {

// Chooses the renderer.

std::string show(const Report& report, const ShowOptions& options) {
  if (options.is(Format::json)) return json_of(report);
  if (options.is(Format::csv)) return csv_of(report);
  if (options.is(Format::junit)) return junit_of("tidemark", tests_of(report, options));
  return rendered(document_of(report, options), options);
}

std::string show_metrics(const Report& report, const ShowOptions& options) {
  const Section measured = measured_section(report, options);
  return measured.blocks.empty() ? "" : "\n" + terminal_of(measured.blocks, options);
}

// Chooses the renderer.

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

// Chooses the renderer.

std::string show_history(const History& history, const ShowOptions& options) {
  if (options.is(Format::json)) return history_json(history, options);
  if (options.is(Format::csv)) return history_csv(history);
  if (options.is(Format::junit)) return junit_of("tidemark history", tests_of(history, options));
  return rendered(document_of(history, options), options);
}

}  // namespace tidemark::reports
