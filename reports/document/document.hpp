// What a verb has to say, before any format: sentences, findings, tables and charts.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <initializer_list>
#include <limits>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

namespace tidemark {

// Charts as data: what is drawn, and nothing of how.

enum class HeatKind { none, good, bad, warn };

struct HeatCell {
  HeatKind kind = HeatKind::none;
  char mark = ' ';         // a letter, so that nothing hangs on colours alone
  double shade = 0;        // from -1 (worse than the others) to 1 (better): laid over a good cell
  double share = 1;        // of a bad cell: how much of it is bad, above 0; the rest is good
  std::string label = {};  // said when pointed at; empty: nothing
};

/// Rows against columns, a cell each.
struct HeatMap {
  std::string title;
  std::vector<std::string> rows = {}, columns = {};
  std::vector<std::vector<HeatCell>> cells = {};  // [row][column]
  bool captioned = false;                         // one of several, each under its title
};

/// A change of so much is as dark as it gets.
inline constexpr double kFullShade = 0.05;

/// The rows of a map of GPUs: few GPUs get one each, more share those of their nodes.
struct GpuRows {
  std::vector<std::string> names;
  std::vector<std::size_t> of_gpu;
};
GpuRows gpu_rows(const std::vector<std::pair<std::string, std::uint32_t>>& nodes_and_numbers);

/// Of each place how much there is to see (0 most, kNothingToSee), and its cell, which is labeled
/// with what is there alone.
struct MapPlaces {
  std::function<int(std::size_t row, std::size_t column)> rank;
  std::function<HeatCell(std::size_t row, std::size_t column)> cell;
};
inline constexpr int kNothingToSee = 3;

/// The indices below `count` to show, in their order: where more than `most`, those of the lowest
/// rank.
std::vector<std::size_t> most_telling(std::size_t count, std::size_t most,
                                      const std::function<int(std::size_t)>& rank);

/// A median that is drawn as a dot.
struct StripDot {
  double value = 0;
  std::string label;   // said when pointed at
  bool counts = true;  // a hollow dot where its case did not pass
};

/// One line of the plot: a GPU with its samples, or a node with its GPUs.
struct StripRow {
  std::string label;
  std::vector<double> samples =
      {};  // thin strokes; at most kStripSamples are drawn, evenly by rank
  std::vector<StripDot> dots = {};
};

/// Numbers of many GPUs on one axis.
struct StripPlot {
  std::string title, unit;
  bool higher_is_better = true;
  std::vector<StripRow> rows = {};
};

/// One launch on the x axis.
struct ChartPoint {
  double unix_s = 0;
  double typical = 0;        // on the line; NaN: a gap
  double low = 0, high = 0;  // of all GPUs: the band
  std::string label = {};    // said when pointed at
  bool marked = false;       // its report is incomplete: a hollow dot
};

/// The value of one GPU, a dot of its own.
struct ChartDot {
  std::size_t point = 0;
  double value = 0;
  std::string label = {};
};

/// A vertical line in front of a launch: another driver.
struct ChartRule {
  std::size_t point = 0;
  std::string label = {};
};

/// A change that was told, at the first launch behind it.
struct ChartMark {
  std::size_t point = 0;
  double value = 0;
  bool worse = false;
  std::string label = {};
};

/// A level between two changes.
struct ChartLevel {
  std::size_t first = 0, last = 0;  // points
  double value = 0;
};

/// A metric over the time of its launches.
struct LineChart {
  std::string title = {}, unit = {};
  bool higher_is_better = true;
  bool band = false;                    // drawn in place of dots
  std::vector<ChartPoint> points = {};  // in the order of time
  std::vector<ChartDot> dots = {};
  std::vector<ChartRule> rules = {};
  std::vector<ChartMark> marks = {};
  std::vector<ChartLevel> levels = {};
};

// How a verb is asked to show something.

/// What a metric is printed beside. A report does not hold it: it follows from the metric's name.
struct PrintedBeside {
  std::string over = {};          // the metric of the same case that the gain is over; empty: none
  double published = 0;           // what others reached, in the metric's unit; 0: nothing
  std::string published_by = {};  // who, said below the table
};

struct ShowOptions {
  bool colour = false;
  bool all = false;    // what passed and stayed the same too, and nothing capped; terminal and HTML
  bool notes = false;  // what cases recorded, one by one
  std::uint32_t columns = 100;  // of the terminal
  /// Of a case and one of its metrics; terminal only. Without it nothing is printed beside.
  std::function<PrintedBeside(std::string_view, std::string_view)> beside = {};
  /// Of a result that did not pass: the command that runs its failing row alone, or empty. In all
  /// formats but JSON and CSV.
  std::function<std::string(std::uint32_t)> replayed_by = {};
  std::vector<std::string> refused = {};  // a line for each file of a history that was not read
  std::set<std::string> fail_on = {};     // findings of a comparison that fail in JUnit

  /// How many of a list to make.
  std::size_t most(std::size_t many) const { return all ? static_cast<std::size_t>(-1) : many; }
};

// What a verb has to say, before any format: sentences, findings, tables and charts in sections.
// `show`, `compare` and `history` build one; reports/render/ has a renderer each format.

/// Who a part is for, by the room there is: at a terminal, in a review (60 kB), on a page.
enum Readers : std::uint8_t {
  kAtTerminal = 1,
  kInReview = 2,
  kOnPage = 4,
  kNotOnPage = kAtTerminal | kInReview,
  kNotAtTerminal = kInReview | kOnPage,
  kEveryone = kAtTerminal | kInReview | kOnPage,
};

/// How many of a list each reader sees who did not ask for all.
struct Most {
  static constexpr auto kAll = static_cast<std::size_t>(-1);
  std::size_t terminal = kAll, page = kAll, review = kAll;
};

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
  std::size_t margin = 0;  // of its first one
};

/// Said in the head of everything that the virtual device made.
Line virtual_banner();

/// What has to be known before the rest is believed; its heading ends at `heading` characters.
Line warning(std::string text, std::size_t heading, std::size_t indent = 8);

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
  Most most_more = {};                  // of these
  std::string_view more_what = {};      // "metric"
  bool folds = false;                   // `more` on a page, under its summary
  std::string more_summary = {};        // "3 of 20 miscompares"; for_reader() makes it
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
  std::string_view id = {}, label = {};  // words of ours; on a page
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

/// A list of which each reader sees the beginning, and how much was left out.
struct List {
  std::size_t size = 0;
  Most most = {};
  std::string_view what = {};                      // "finding"
  std::function<struct Block(std::size_t)> block;  // made when it is read: some take a while
};

struct Block {
  std::variant<Line, Finding, TextTable, Facts, Legend, Subheading, LeftOut, HeatMap, StripPlot,
               LineChart, List>
      content;
  Readers readers = kEveryone;

  template <class Content>
  Block(Content one, Readers who = kEveryone) : content(std::move(one)), readers(who) {}
};

struct Section {
  std::string_view id, heading;  // empty: under the heading before
  std::string_view link = {};    // in the list of sections at the top of a page; empty: none
  std::size_t bytes = 4'000;     // of a Markdown page: one part must not drive out the others
  std::vector<Block> blocks = {};
  Readers readers = kEveryone;

  template <class Content>
  void add(Content content, Readers who = kEveryone) {
    blocks.emplace_back(std::move(content), who);
  }
  /// Says that of `number` only `shown` were.
  void leave_out(std::size_t number, std::size_t shown, std::string_view what,
                 Readers who = kEveryone) {
    if (number > shown) add(LeftOut{number - shown, what}, who);
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

/// What this reader sees: the parts for others are left out, and lists end where they are to.
Document for_reader(Document document, Readers reader, bool all = false);
std::vector<Block> for_reader(const std::vector<Block>& blocks, Readers reader, bool all = false);

}  // namespace tidemark
