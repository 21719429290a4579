// What a verb has to say, before any format: sentences, findings, tables and charts in sections.
// `show`, `compare` and `history` build one; reports/render/ has a renderer each format.
#pragma once

#include <cstddef>
#include <initializer_list>
#include <limits>
#include <string>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

#include "reports/document/charts.hpp"
#include "reports/document/show_options.hpp"

namespace tidemark::reports {

enum class Tone { none, quiet, good, warn, bad };

/// A piece of a sentence. A string may hold text of a report and is nobody's markup; a literal is
/// ours.
struct Span {
  std::string text;
  bool ours = false;

  Span(std::string given) : text(std::move(given)) {}
  Span(const char* literal) : text(literal), ours(true) {}
};
using Text = std::vector<Span>;

/// A sentence of ours that holds numbers, and no text of a report.
inline Span ours(std::string text) {
  Span made(std::move(text));
  made.ours = true;
  return made;
}

/// A sentence.
struct Line {
  enum class As { item, banner, paragraph, muted };
  As as = As::item;
  Text text = {};
  std::size_t heading = 0;  // so many characters of its first span are in the colour of the tone
  Tone tone = Tone::none;
  std::size_t indent = 0;  // of its further lines on a terminal
};

/// Said in the head of everything that the virtual device made.
Line virtual_banner();

/// What came of a waiver.
Line waiver_line(const std::string& text, bool attention);

/// A shell command to copy.
struct Command {
  std::string label, command;
};

/// Something found: what, where, why, and how to see it again.
struct Finding {
  Tone tone = Tone::none;               // none: the heading is no verdict
  std::string heading = {};             // "NEW FAIL"
  std::vector<std::string> names = {};  // of cases
  std::size_t most_names = 4;           // on a terminal
  Text text = {};                       // behind the names: "on node n17, all 8 GPUs"
  std::vector<Text> why = {};           // a line each
  std::vector<Line> more = {};          // further lines
  std::string more_summary = {};        // of `more` on a page, where it is folded; empty: it is not
  std::vector<Command> commands = {};
};

struct Heading {
  std::string_view heading;
  bool numeric = false;  // to the right, sorted as numbers
  bool spare = false;    // left out on a narrow terminal
};

/// Of a table; with '>' in front one of numbers.
std::vector<Heading> headings(std::initializer_list<std::string_view> texts);

struct Cell {
  enum class As { plain, code, badge };
  std::string text;
  double order = std::numeric_limits<double>::quiet_NaN();  // what it is sorted by
  Tone tone = Tone::none;
  As as = As::plain;
  std::string title = {};  // said when pointed at
};

Cell text_cell(std::string_view text);
Cell code_cell(std::string_view text);
/// Five digits; "-" for NaN.
Cell number_cell(double number);
/// With commas.
Cell count_cell(std::size_t number);
/// "-2.03 %" of a natural logarithm; "-" for NaN.
Cell percent_cell(double logarithm);

struct TextTable {
  std::string_view id, label;  // words of ours; on a page
  std::vector<Heading> columns = {};
  std::vector<std::vector<Cell>> rows = {};
  std::vector<std::pair<std::size_t, Line>> below = {};  // behind so many rows; on a terminal
};

struct Fact {
  std::string name, value;
  std::string_view between = ": ";  // on a terminal
};

/// Facts by name.
struct Facts {
  std::vector<Fact> facts = {};
};

/// What the colours of a map mean: the swatches' classes, and words.
struct Legend {
  std::vector<std::pair<std::vector<std::string_view>, std::string>> entries;
};

struct Subheading {
  std::string_view text;
};

/// So many were not shown.
struct LeftOut {
  std::size_t number = 0;
  std::string_view what;
};

using Block = std::variant<Line, Finding, TextTable, Facts, Legend, Subheading, LeftOut, HeatMap,
                           StripPlot, LineChart>;

struct Section {
  std::string_view id, heading;  // empty: under the heading before
  std::string_view link = {};    // in the list of sections at the top of a page; empty: none
  std::size_t bytes = 4'000;     // of a Markdown page: one part must not drive out the others
  std::vector<Block> blocks = {};

  void add(Block block) { blocks.push_back(std::move(block)); }
  /// Says that of `number` only `shown` were.
  void leave_out(std::size_t number, std::size_t shown, std::string_view what) {
    if (number > shown) add(LeftOut{number - shown, what});
  }
};

/// Adds the rows and columns of the map that tell most, and says how many were left out.
void add_map(Section& section, const HeatMap& names, const MapPlaces& places,
             const ShowOptions& options);

struct Document {
  std::string verb;        // "compare": in the command that shows what was left out
  std::string title;       // "tidemark comparison"
  std::string word = {};   // the verdict: "REGRESSION"; empty: none
  Tone tone = Tone::none;  // of the verdict
  bool is_virtual = false;
  std::string action = {};  // what to do: "roll out"
  std::string scope;        // what it is about: "12 cases x 16 paired GPUs, 5 against 5 launches"
  std::string window = {};  // title of the browser's window
  Section head = {};        // its heading is the verdict
  std::vector<Section> sections = {};
};

}  // namespace tidemark::reports
