// Chooses the renderer.
#include "reports/render/show.hpp"

#include "reports/document/report/document.hpp"
#include "reports/render/junit.hpp"
#include "reports/render/render.hpp"

namespace tidemark::reports {

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

}  // namespace tidemark::reports
