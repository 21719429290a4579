// A document as Markdown.
#include <fmt/format.h>

#include "reports/base/words.hpp"
#include "reports/render/show.hpp"

namespace tidemark {
namespace {

/// A page of limited size: whole blocks or none.
struct MarkdownPage {
  std::string text = {};
  std::size_t most = kMostMarkdownBytes - 200;  // the rest is for the last line
  std::size_t left_out = 0;                     // blocks that found no room
};

/// Appends the block, or counts it as left out where it finds no room. Later, smaller blocks may
/// still find some.
void put_block(MarkdownPage& page, std::string_view block) {
  if (page.text.size() + block.size() > page.most) {
    ++page.left_out;
    return;
  }
  page.text += block;
}

/// The page, with a line that says how much was left out and which command shows it.
std::string finished(const MarkdownPage& page, std::string_view command) {
  if (page.left_out == 0) return page.text;
  return page.text +
         fmt::format("\n*{} found no room here; `{} --all` and `--html` show everything.*\n",
                     plural(page.left_out, "block"), command);
}

std::string marked(const Span& span) {
  return span.ours ? printable(span.text) : for_markdown(span.text);
}

/// The first characters of it bold.
std::string marked(const Text& text, std::size_t heading = 0) {
  std::string made;
  for (const Span& span : text) {
    const std::size_t bold = made.empty() ? std::min(heading, span.text.size()) : 0;
    if (bold == 0) {
      made += marked(span);
      continue;
    }
    made = "**" + printable(span.text.substr(0, bold)) + "**";
    Span rest = span;
    rest.text.erase(0, bold);
    const bool gap = !rest.ours && rest.text.starts_with(' ');
    if (gap) rest.text.erase(0, 1);
    made += (gap ? " " : "") + marked(rest);
  }
  return made;
}

/// A part of the page, and whether its last line was of a list.
struct Part {
  MarkdownPage page;
  bool list = false;
};

void put_item(Part& part, const std::string& text) {
  put_block(part.page, "- " + text + "\n");
  part.list = true;
}

/// What stands below a list needs a line between.
void put_apart(Part& part, const std::string& block) {
  put_block(part.page, (part.list ? "\n" : "") + block);
  part.list = false;
}

void put_one(Part& part, const Line& line) {
  const std::string text = marked(line.text, line.heading);
  if (line.as == Line::As::item) return put_item(part, text);
  put_apart(part, text + "\n\n");
}

void put_one(Part& part, const Finding& finding) {
  std::string block = fmt::format("**{}**", printable(finding.heading));
  const std::string names = some_of(finding.names, finding.most_names, "case");
  if (!names.empty()) block += " " + for_markdown(names);
  if (!finding.text.empty()) block += " " + marked(finding.text);
  for (const Text& why : finding.why) block += "<br>\n" + marked(why);
  block += "\n\n";
  if (finding.more_summary.empty()) {
    for (const Line& line : finding.more) block += "- " + marked(line.text, line.heading) + "\n";
    if (!finding.more.empty()) block += "\n";
  }
  for (const Command& command : finding.commands) {
    // What to copy first needs no name.
    if (&command != &finding.commands.front()) block += command.label + ":\n\n";
    block += fenced_command(command.command) + "\n";
  }
  put_apart(part, block);
}

void put_one(Part& part, const TextTable& table) {
  std::string head = "|", rule = "|";
  for (const Heading& column : table.columns) {
    head += fmt::format(" {} |", column.heading);
    rule += column.numeric ? "--:|" : "---|";
  }
  put_apart(part, head + "\n" + rule + "\n");
  for (const std::vector<Cell>& row : table.rows) {
    std::string line = "|";
    for (std::size_t i = 0; i < row.size(); ++i) {
      const bool number = table.columns[i].numeric || row[i].tone != Tone::none;
      line += fmt::format(" {} |", number ? printable(row[i].text) : for_markdown(row[i].text));
    }
    put_block(part.page, line + "\n");
  }
  part.list = true;
}

void put_one(Part& part, const Facts& facts) {
  for (const Fact& fact : facts.facts) {
    put_item(part, fact.name + ": " + for_markdown(fact.value));
  }
}

void put_one(Part& part, const Subheading& heading) {
  put_apart(part, fmt::format("#### {}\n\n", heading.text));
}

void put_one(Part& part, const LeftOut& left_out) {
  put_item(part, "and " + plural(left_out.number, fmt::format("more {}", left_out.what)));
}

/// Charts are for pages, and for_reader() takes lists apart.
template <class Chart>
void put_one(Part&, const Chart&) {}

}  // namespace

std::string markdown_of(const Document& whole, const ShowOptions&) {
  const Document document = for_reader(whole, kInReview);
  MarkdownPage page;
  const std::string is_virtual = document.is_virtual ? " (VIRTUAL)" : "";
  const auto take = [&page](const Part& part) {
    page.text += part.page.text + (part.list ? "\n" : "");
    page.left_out += part.page.left_out;
  };
  const auto put_all = [](Part& part, const std::vector<Block>& blocks) {
    for (const Block& block : blocks) {
      std::visit([&](const auto& one) { put_one(part, one); }, block.content);
    }
  };
  Part head{.page = {.most = document.head.bytes}};
  put_block(
      head.page,
      document.word.empty()
          ? fmt::format("## {}{}\n\n{}\n\n", document.title, is_virtual, document.scope)
          : fmt::format("## tidemark: {}{}{}{}\n\n{}\n\n", document.word, is_virtual,
                        document.action.empty() ? "" : ": ", document.action, document.scope));
  put_all(head, document.head.blocks);
  take(head);
  for (const Section& section : document.sections) {
    if (section.blocks.empty()) continue;
    Part part{.page = {.most = section.bytes}};
    if (!section.heading.empty()) put_block(part.page, fmt::format("### {}\n\n", section.heading));
    put_all(part, section.blocks);
    take(part);
  }
  return finished(page, "tidemark " + document.verb);
}

}  // namespace tidemark
