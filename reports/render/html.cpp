// A document as an HTML page.
#include <fmt/format.h>

#include <cmath>

#include "reports/base/words.hpp"
#include "reports/render/html/svg.hpp"
#include "reports/render/show.hpp"

namespace tidemark {
namespace {

std::string_view class_of(Tone tone) {
  constexpr std::string_view kClasses[] = {"", "muted", "good", "warn", "bad"};
  return kClasses[static_cast<std::size_t>(tone)];
}

std::string html_of(const Text& text) {
  std::string made;
  for (const Span& span : text) made += for_html(span.text);
  return made;
}

std::string badge(Tone tone, std::string_view text) {
  if (tone == Tone::none) return for_html(text);
  return fmt::format("<span class=\"badge {}\">{}</span>", class_of(tone), for_html(text));
}

/// Its heading in the colour of its tone.
std::string item(const Line& line) {
  if (line.heading == 0 || line.tone == Tone::none) {
    return fmt::format("<li>{}</li>\n", html_of(line.text));
  }
  Text rest = line.text;
  const std::string heading = rest.front().text.substr(0, line.heading);
  rest.front().text.erase(0, heading.size());
  return fmt::format("<li><span class=\"{}\">{}</span>{}</li>\n", class_of(line.tone),
                     for_html(heading), html_of(rest));
}

std::string html_of(const Line& line) {
  if (line.as == Line::As::item) return item(line);
  const std::string_view kind = line.as == Line::As::banner  ? " class=\"banner\""
                                : line.as == Line::As::muted ? " class=\"muted\""
                                                             : "";
  return fmt::format("<p{}>{}</p>\n", kind, html_of(line.text));
}

std::string html_of(const Finding& finding) {
  constexpr std::size_t kNamed = 8;
  std::string names;
  for (std::size_t i = 0; i < std::min(kNamed, finding.names.size()); ++i) {
    names += fmt::format("{}<code>{}</code>", i == 0 ? "" : ", ", for_html(finding.names[i]));
  }
  if (finding.names.size() > kNamed) {
    names += fmt::format(" and {}", plural(finding.names.size() - kNamed, "more case"));
  }
  if (!names.empty()) names = fmt::format(" <span>{}</span>", names);
  std::string made =
      fmt::format("<div class=\"finding\"><h3>{}{} <span class=\"muted\">{}</span></h3>\n",
                  badge(finding.tone, finding.heading), names, html_of(finding.text));
  for (const Text& why : finding.why) made += fmt::format("<p>{}</p>\n", html_of(why));
  std::string more;
  for (const Line& line : finding.more) more += item(line);
  if (!more.empty()) {
    made += finding.more_summary.empty()
                ? fmt::format("<ul>\n{}</ul>\n", more)
                : fmt::format("<details><summary>{}</summary><ul>\n{}</ul></details>\n",
                              finding.more_summary, more);
  }
  for (const Command& command : finding.commands) {
    if (&command != &finding.commands.front()) {
      made += fmt::format("<p class=\"muted\">{}:</p>", command.label);
    }
    made += fmt::format("<pre class=\"command\">{}</pre>\n", for_html(command.command));
  }
  return made + "</div>\n";
}

std::string html_of(const Cell& cell) {
  std::string text = for_html(cell.text);
  if (cell.as == Cell::As::badge) return badge(cell.tone, cell.text);
  if (cell.tone != Tone::none) {
    return fmt::format("<span class=\"{}\">{}</span>", class_of(cell.tone), text);
  }
  if (cell.as == Cell::As::plain) return text;
  const std::string title =
      cell.title.empty() ? "" : fmt::format(" title=\"{}\"", for_html(cell.title));
  return fmt::format("<code{}>{}</code>", title, text);
}

std::string html_of(const TextTable& table) {
  std::string made = fmt::format(
      "<div class=\"wide\" tabindex=\"0\"><table id=\"{}\" class=\"list\" aria-label=\"{}\">\n"
      "<thead><tr>",
      table.id, for_html(table.label));
  const auto kind = [&](std::size_t column) {
    return table.columns[column].numeric ? " class=\"number\"" : "";
  };
  for (std::size_t i = 0; i < table.columns.size(); ++i) {
    made += fmt::format("<th scope=\"col\"{}>{}</th>", kind(i), for_html(table.columns[i].heading));
  }
  made += "</tr></thead>\n<tbody>\n";
  for (const std::vector<Cell>& row : table.rows) {
    made += "<tr>";
    for (std::size_t i = 0; i < row.size(); ++i) {
      const std::string order =
          std::isnan(row[i].order) ? "" : fmt::format(" data-order=\"{}\"", row[i].order);
      made += fmt::format("<td{}{}>{}</td>", kind(i), order, html_of(row[i]));
    }
    made += "</tr>\n";
  }
  return made + "</tbody>\n</table></div>\n";
}

std::string html_of(const Facts& facts) {
  std::string made = "<dl class=\"facts\">\n";
  for (const Fact& fact : facts.facts) {
    made += fmt::format("<dt>{}</dt><dd>{}</dd>\n", for_html(fact.name), for_html(fact.value));
  }
  return made + "</dl>\n";
}

std::string html_of(const Legend& legend) {
  std::string made = "<p class=\"legend\">";
  for (const auto& [swatches, text] : legend.entries) {
    made += "<span>";
    for (const std::string_view kind : swatches) {
      made += fmt::format(
          "<svg width=\"14\" height=\"14\"><rect class=\"{}\" width=\"14\" height=\"14\"/></svg>",
          kind);
    }
    made += for_html(text) + "</span>";
  }
  return made + "</p>\n";
}

std::string html_of(const Subheading& heading) {
  return fmt::format("<h3>{}</h3>\n", for_html(heading.text));
}

std::string html_of(const LeftOut& left_out, const std::string& verb) {
  return fmt::format(
      "<p class=\"muted\">... and {}: <code>tidemark {} --html --all</code> has all</p>\n",
      plural(left_out.number, fmt::format("more {}", left_out.what)), verb);
}

std::string html_of(const HeatMap& map) {
  if (!map.captioned) return svg_of(map);
  return fmt::format("<figure><figcaption>{}</figcaption>\n{}</figure>\n", for_html(map.title),
                     svg_of(map));
}

std::string html_of(const StripPlot& plot) { return svg_of(plot); }
std::string html_of(const LineChart& chart) { return svg_of(chart); }

/// What blocks that stand together stand in.
enum class Group { none, list, findings, maps };

Group group_of(const Block& block) {
  if (std::holds_alternative<Finding>(block.content)) return Group::findings;
  const Line* const line = std::get_if<Line>(&block.content);
  if (line != nullptr && line->as == Line::As::item) return Group::list;
  const HeatMap* const map = std::get_if<HeatMap>(&block.content);
  return map != nullptr && map->captioned ? Group::maps : Group::none;
}

std::string content_of(const Section& section, const std::string& verb) {
  std::string made;
  Group open = Group::none;
  const auto turn_to = [&](Group next) {
    if (next == open) return;
    if (open != Group::none) made += open == Group::list ? "</ul>\n" : "</div>\n";
    if (next == Group::list) made += "<ul>\n";
    if (next == Group::maps) made += "<div class=\"maps\">\n";
    if (next == Group::findings) {
      made += fmt::format("<div class=\"findings\" aria-label=\"{}\">\n", section.heading);
    }
    open = next;
  };
  for (const Block& block : section.blocks) {
    turn_to(group_of(block));
    std::visit(
        [&](const auto& one) {
          using One = std::decay_t<decltype(one)>;
          if constexpr (std::is_same_v<One, LeftOut>) {
            made += html_of(one, verb);
          } else if constexpr (!std::is_same_v<One, List>) {  // for_reader() takes lists apart
            made += html_of(one);
          }
        },
        block.content);
  }
  turn_to(Group::none);
  return made;
}

std::string head_of(const Document& document) {
  const std::string title = document.title + (document.is_virtual ? " (VIRTUAL)" : "");
  const std::string verdict =
      document.word.empty() ? "" : badge(document.tone, document.word) + " ";
  std::string made = fmt::format(
      "<header>\n<h1>{}{}</h1>\n<p>{}{}</p>\n", verdict, title,
      document.action.empty() ? "" : fmt::format("<strong>{}</strong>: ", document.action),
      for_html(document.scope));
  Section head = document.head;
  for (Block& block : head.blocks) {
    Line* const line = std::get_if<Line>(&block.content);
    if (line != nullptr && line->as == Line::As::item) line->as = Line::As::paragraph;
  }
  made += content_of(head, document.verb) + "<nav>";
  for (const Section& section : document.sections) {
    if (section.link.empty() || section.blocks.empty()) continue;
    made += fmt::format("<a href=\"#{}\">{}</a>", section.id, section.link);
  }
  return made + "</nav>\n</header>\n";
}

}  // namespace

std::string html_of(const Document& whole, const ShowOptions& options) {
  const Document document = for_reader(whole, kOnPage, options.all);
  std::string body = head_of(document);
  for (const Section& section : document.sections) {
    if (section.blocks.empty()) continue;
    body += fmt::format("<section id=\"{}\">\n<h2>{}</h2>\n{}</section>\n", section.id,
                        for_html(section.heading), content_of(section, document.verb));
  }
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
      kPageStyleHash, kPageScriptHash, for_html(document.window), kPageStyle, body, kPageScript);
}

}  // namespace tidemark
