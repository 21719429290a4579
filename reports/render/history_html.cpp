// A history as an HTML page.
#include <fmt/format.h>

#include "reports/render/html/document.hpp"
#include "reports/render/show_history.hpp"

namespace tidemark {

std::string history_html(const History&, const ShowHistoryOptions&) {
  return html_document("tidemark history", "");
}

}  // namespace tidemark
