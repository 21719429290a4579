// Frames pages and tables.
#include "reports/render/html/document.hpp"

#include <fmt/format.h>

#include "reports/render/escape.hpp"
#include "reports/render/html/assets.hpp"
#include "reports/render/page.hpp"

namespace tidemark::reports {

std::string html_document(std::string_view title, std::string_view body) {
  return fmt::format(
      R"(<!DOCTYPE html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta http-equiv="Content-Security-Policy" content="default-src 'none'; style-src '{}'; script-src '{}'; base-uri 'none'; form-action 'none'">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark">
<meta name="referrer" content="no-referrer">
<title>{}</title>
<style>{}</style>
</head>
<body>
{}<script>{}</script>
</body>
</html>
)",
      kPageStyleHash, kPageScriptHash, for_html(title), kPageStyle, body, kPageScript);
}

HtmlCell text_cell(std::string_view text) { return {.html = for_html(text)}; }

HtmlCell number_cell(double number) { return {.html = short_number(number), .order = number}; }

HtmlCell count_cell(std::size_t number) {
  return {.html = grouped(number), .order = static_cast<double>(number)};
}

std::string html_table(std::string_view id, std::string_view label,
                       const std::vector<HtmlColumn>& columns,
                       const std::vector<std::vector<HtmlCell>>& rows) {
  std::string made = fmt::format(
      "<div class=\"wide\" tabindex=\"0\"><table id=\"{}\" class=\"list\" aria-label=\"{}\">\n"
      "<thead><tr>",
      id, for_html(label));
  for (const HtmlColumn& column : columns) {
    made += fmt::format("<th scope=\"col\"{}>{}</th>", column.numeric ? " class=\"number\"" : "",
                        for_html(column.text));
  }
  made += "</tr></thead>\n<tbody>\n";
  for (const std::vector<HtmlCell>& row : rows) {
    made += "<tr>";
    for (std::size_t i = 0; i < row.size(); ++i) {
      const std::string order =
          std::isnan(row[i].order) ? "" : fmt::format(" data-order=\"{}\"", row[i].order);
      made += fmt::format("<td{}{}>{}</td>", columns[i].numeric ? " class=\"number\"" : "", order,
                          row[i].html);
    }
    made += "</tr>\n";
  }
  return made + "</tbody>\n</table></div>\n";
}

std::string html_section(std::string_view id, std::string_view heading, std::string_view content) {
  return fmt::format("<section id=\"{}\">\n<h2>{}</h2>\n{}</section>\n", id, for_html(heading),
                     content);
}

}  // namespace tidemark::reports
