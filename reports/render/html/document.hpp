// One HTML page that needs nothing but itself: its frame, its tables. Of a report nothing but
// escaped text goes in.
#pragma once

#include <cmath>
#include <cstddef>
#include <limits>
#include <string>
#include <string_view>
#include <vector>

namespace tidemark::reports {

/// The page. `body` is HTML; `title` is text. A Content-Security-Policy lets the page load nothing
/// and run no script but its own, whatever got into the body.
std::string html_document(std::string_view title, std::string_view body);

/// A heading of a table.
struct HtmlColumn {
  std::string_view text;
  bool numeric = false;  // to the right, sorted as numbers
};

/// A cell: HTML, and the number it is sorted by where its text is none.
struct HtmlCell {
  std::string html;
  double order = std::numeric_limits<double>::quiet_NaN();
};

/// A cell of text of the report.
HtmlCell text_cell(std::string_view text);

/// A cell of a number, five digits; "-" for NaN.
HtmlCell number_cell(double number);

/// A count, with commas.
HtmlCell count_cell(std::size_t number);

/// A table that the page's script can sort and filter; `id` is a word of ours, `label` says what
/// it holds.
std::string html_table(std::string_view id, std::string_view label,
                       const std::vector<HtmlColumn>& columns,
                       const std::vector<std::vector<HtmlCell>>& rows);

/// A section with a heading; `id` is a word of ours, `heading` text, `content` HTML.
std::string html_section(std::string_view id, std::string_view heading, std::string_view content);

}  // namespace tidemark::reports
