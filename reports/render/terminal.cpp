// A document on a terminal.
#include <fmt/ranges.h>

#include <algorithm>

#include "reports/base/words.hpp"
#include "reports/render/page.hpp"
#include "reports/render/show.hpp"

namespace tidemark {
namespace {

constexpr std::size_t kIndent = 5;

std::string plain(const Text& text) {
  std::string made;
  for (const Span& span : text) made += span.text;
  return made;
}

std::string indented(const std::string& text) { return std::string(kIndent, ' ') + text; }

void put_block(Page& page, const Line& line) {
  put(page, line.tone, line.heading == 0 ? 0 : line.margin + line.heading,
      std::string(line.margin, ' ') + plain(line.text), line.indent);
}

void put_block(Page& page, const Finding& finding) {
  std::string title = finding.heading;
  const std::string names = some_of(finding.names, finding.most_names, "case");
  if (!names.empty()) title += " " + names;
  if (!finding.text.empty()) title += "  " + plain(finding.text);
  put(page, finding.tone, finding.heading.size(), title, kIndent);
  for (const Text& why : finding.why) put(page, indented(plain(why)), kIndent);
  for (const Line& line : finding.more) {
    put(page, line.tone, line.heading == 0 ? 0 : kIndent + line.heading, indented(plain(line.text)),
        line.indent == 0 ? kIndent + 2 : line.indent);
  }
  for (const Command& command : finding.commands) {
    put_command(page, command.label + ": ", command.command, kIndent);
  }
}

/// How a table stands on a page: two spaces between columns, or one, and then without spare ones.
struct Layout {
  std::size_t gap = 2;
  bool spare = true;
};

Layout layout_of(const Page& page, const std::vector<std::size_t>& widths) {
  std::size_t wide = 0;
  for (const std::size_t width : widths) wide += width;
  if (wide + 2 * widths.size() <= page.columns) return {};
  return {.gap = 1, .spare = wide + 1 + widths.size() <= page.columns};
}

void put_block(Page& page, const TextTable& table) {
  std::vector<std::size_t> widths;
  for (std::size_t c = 0; c < table.columns.size(); ++c) {
    widths.push_back(table.columns[c].heading.size());
    for (const auto& row : table.rows) widths[c] = std::max(widths[c], row[c].text.size());
  }
  const Layout layout = layout_of(page, widths);
  const auto put_row = [&](auto text_at) {
    // Never broken, however narrow the page: the columns would no longer stand below each other.
    std::string text = " ";
    for (std::size_t c = 0; c < widths.size(); ++c) {
      if (table.columns[c].spare && !layout.spare) continue;
      text += c == 0 ? " " : std::string(layout.gap, ' ');
      text += table.columns[c].numeric ? fmt::format("{:>{}}", text_at(c), widths[c])
                                       : fmt::format("{:<{}}", text_at(c), widths[c]);
    }
    text.erase(text.find_last_not_of(' ') + 1);
    page.text += printable(text) + '\n';
  };
  put_row([&](std::size_t c) { return table.columns[c].heading; });
  auto below = table.below.begin();
  for (std::size_t i = 0; i < table.rows.size(); ++i) {
    put_row([&](std::size_t c) { return std::string_view(table.rows[i][c].text); });
    for (; below != table.below.end() && below->first == i + 1; ++below) {
      put_block(page, below->second);
    }
  }
  std::vector<std::string_view> names;
  for (const Heading& column : table.columns) {
    if (column.spare) names.push_back(column.heading);
  }
  if (layout.spare || names.empty()) return;
  const std::string_view last = names.back();
  names.pop_back();
  put(page, fmt::format("  (no room for {} and {}: --html and --csv have them)",
                        fmt::join(names, ", "), last));
}

void put_block(Page& page, const Facts& facts) {
  for (const Fact& fact : facts.facts) {
    put(page, fmt::format("{}{}{}", fact.name, fact.between, fact.value), 2);
  }
}

void put_block(Page& page, const Subheading& heading) { put(page, heading.text); }

void put_block(Page& page, const LeftOut& left_out) {
  put(page, fmt::format("... and {}: --all shows all",
                        plural(left_out.number, fmt::format("more {}", left_out.what))));
}

/// Charts are for pages, and for_reader() takes lists apart.
template <class Chart>
void put_block(Page&, const Chart&) {}

void put_blocks(Page& page, const std::vector<Block>& blocks) {
  for (const Block& block : blocks) {
    std::visit([&](const auto& one) { put_block(page, one); }, block.content);
  }
}

Page page_of(const ShowOptions& options) {
  return {.colour = options.colour, .columns = options.columns};
}

}  // namespace

std::string terminal_of(const Document& whole, const ShowOptions& options) {
  const Document document = for_reader(whole, kAtTerminal, options.all);
  Page page = page_of(options);
  const std::string head =
      document.word.empty()
          ? upper(document.verb) + ":"
          : fmt::format("RESULT: {}{}", document.word, document.is_virtual ? " (VIRTUAL)" : "");
  put(page, document.tone, head.size(),
      fmt::format("{}{}{}{}{}", head, document.word.empty() ? " " : "  ", document.action,
                  document.action.empty() ? "" : ": ", document.scope),
      8);
  put_blocks(page, document.head.blocks);
  for (const Section& section : document.sections) {
    if (section.blocks.empty()) continue;
    put(page, "");
    put_blocks(page, section.blocks);
  }
  return page.text;
}

std::string terminal_of(const std::vector<Block>& blocks, const ShowOptions& options) {
  Page page = page_of(options);
  put_blocks(page, for_reader(blocks, kAtTerminal, options.all));
  return page.text;
}

}  // namespace tidemark
