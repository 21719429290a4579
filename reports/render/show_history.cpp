// Chooses the renderer.
#include "reports/render/show_history.hpp"

#include "reports/render/junit.hpp"
#include "reports/render/render.hpp"

namespace tidemark::reports {

std::string show_history(const History& history, const ShowOptions& options) {
  if (options.is(Format::json)) return history_json(history, options);
  if (options.is(Format::csv)) return history_csv(history);
  if (options.is(Format::junit)) return junit_of("tidemark history", tests_of(history, options));
  return rendered(document_of(history, options), options);
}

}  // namespace tidemark::reports
