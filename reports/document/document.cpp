// What a verb has to say, before any format: sentences, findings, tables and charts.
#include "reports/document/document.hpp"

#include <fmt/format.h>
#include <algorithm>
#include <cmath>
#include <map>

#include "reports/base/words.hpp"

namespace tidemark {

Line virtual_banner() {
  constexpr std::string_view kText = "VIRTUAL device: nothing here was measured on a GPU";
  return {.as = Line::As::banner, .text = {ours(std::string(kText))}, .heading = kText.size()};
}

Line warning(std::string text, std::size_t heading, std::size_t indent) {
  return {.as = Line::As::banner,
          .text = {std::move(text)},
          .heading = heading,
          .tone = Tone::warn,
          .indent = indent};
}

Line waiver_line(const std::string& text, bool attention) {
  constexpr std::string_view kHeading = "waiver";
  return {.text = {"waiver ", text},
          .heading = kHeading.size(),
          .tone = attention ? Tone::warn : Tone::none,
          .indent = 5};
}

std::vector<Heading> headings(std::initializer_list<std::string_view> texts) {
  std::vector<Heading> made;
  for (const std::string_view text : texts) {
    const bool numeric = text.starts_with('>');
    made.push_back({.heading = text.substr(numeric ? 1 : 0), .numeric = numeric});
  }
  return made;
}

Cell text_cell(std::string_view text) { return {.text = std::string(text)}; }

Cell code_cell(std::string_view text) { return {.text = std::string(text), .as = Cell::As::code}; }

Cell number_cell(double number) { return {.text = short_number(number), .order = number}; }

Cell count_cell(std::size_t number) {
  return {.text = grouped(number), .order = static_cast<double>(number)};
}

Cell percent_cell(double logarithm) {
  if (std::isnan(logarithm)) return text_cell("-");
  return {.text = percent(logarithm), .order = std::expm1(logarithm)};
}

GpuRows gpu_rows(const std::vector<std::pair<std::string, std::uint32_t>>& nodes_and_numbers) {
  constexpr std::size_t kFewGpus = 32, kLongest = 18;
  GpuRows made;
  std::map<std::string, std::size_t> rows;
  for (const auto& [node, number] : nodes_and_numbers) {
    // A long name must not push out the number of the GPU.
    const std::string name = nodes_and_numbers.size() > kFewGpus
                                 ? node
                                 : fmt::format("{} GPU {}", node.substr(0, kLongest), number);
    const auto [at, fresh] = rows.try_emplace(name, made.names.size());
    if (fresh) made.names.push_back(name);
    made.of_gpu.push_back(at->second);
  }
  return made;
}

void add_map(Section& section, const HeatMap& names, const MapPlaces& places,
             const ShowOptions& options) {
  std::vector<int> row_ranks(names.rows.size(), kNothingToSee);
  std::vector<int> column_ranks(names.columns.size(), kNothingToSee);
  for (std::size_t row = 0; row < row_ranks.size(); ++row) {
    for (std::size_t column = 0; column < column_ranks.size(); ++column) {
      const int rank = places.rank(row, column);
      row_ranks[row] = std::min(row_ranks[row], rank);
      column_ranks[column] = std::min(column_ranks[column], rank);
    }
  }
  const auto rows = most_telling(row_ranks.size(), options.most(64),
                                 [&](std::size_t row) { return row_ranks[row]; });
  const auto columns = most_telling(column_ranks.size(), options.most(240),
                                    [&](std::size_t column) { return column_ranks[column]; });
  // A great map of passes would be most of the page if each of them said so.
  constexpr std::size_t kLabels = 4000;
  const bool great = rows.size() * columns.size() > kLabels;
  HeatMap map{.title = names.title};
  for (const std::size_t column : columns) map.columns.push_back(names.columns[column]);
  for (const std::size_t row : rows) {
    map.rows.push_back(names.rows[row]);
    std::vector<HeatCell>& cells = map.cells.emplace_back();
    for (const std::size_t column : columns) {
      HeatCell cell = places.cell(row, column);
      if (great && places.rank(row, column) == kNothingToSee) cell.label.clear();
      if (!cell.label.empty()) {
        cell.label =
            fmt::format("{} on {}: {}", names.columns[column], names.rows[row], cell.label);
      }
      cells.push_back(std::move(cell));
    }
  }
  section.add(std::move(map));
  section.leave_out(row_ranks.size(), rows.size(), "row");
  section.leave_out(column_ranks.size(), columns.size(), "case");
}

namespace {

std::size_t limit_of(const Most& most, Readers reader, bool all) {
  if (all) return Most::kAll;
  return reader == kAtTerminal ? most.terminal : reader == kOnPage ? most.page : most.review;
}

void cut_more(Finding& finding, Readers reader, bool all) {
  const std::size_t size = finding.more.size();
  const std::size_t shown = std::min(limit_of(finding.most_more, reader, all), size);
  finding.more.resize(shown);
  if (shown == 0) return;
  if (finding.folds && reader == kOnPage) {
    finding.more_summary = fmt::format("{} of {}", shown, plural(size, finding.more_what));
  } else if (size > shown) {
    const std::string what = fmt::format("more {}", finding.more_what);
    finding.more.push_back({.text = {ours("and " + plural(size - shown, what) +
                                          (reader == kAtTerminal ? ": --all shows all" : ""))}});
  }
}

}  // namespace

std::vector<Block> for_reader(const std::vector<Block>& blocks, Readers reader, bool all) {
  std::vector<Block> made;
  const auto add = [&](Block block) {
    if ((block.readers & reader) == 0) return;
    if (auto* const finding = std::get_if<Finding>(&block.content)) cut_more(*finding, reader, all);
    made.push_back(std::move(block));
  };
  for (const Block& block : blocks) {
    const List* const list = std::get_if<List>(&block.content);
    if (list == nullptr) {
      add(block);
      continue;
    }
    if ((block.readers & reader) == 0) continue;
    const std::size_t shown = std::min(limit_of(list->most, reader, all), list->size);
    for (std::size_t i = 0; i < shown; ++i) add(list->block(i));
    if (list->size > shown) add(LeftOut{list->size - shown, list->what});
  }
  return made;
}

Document for_reader(Document document, Readers reader, bool all) {
  std::erase_if(document.sections,
                [&](const Section& section) { return (section.readers & reader) == 0; });
  document.head.blocks = for_reader(document.head.blocks, reader, all);
  for (Section& section : document.sections) {
    section.blocks = for_reader(section.blocks, reader, all);
  }
  return document;
}

std::vector<std::size_t> most_telling(std::size_t count, std::size_t most,
                                      const std::function<int(std::size_t)>& rank) {
  std::vector<std::pair<int, std::size_t>> all;
  all.reserve(count);
  for (std::size_t i = 0; i < count; ++i) all.emplace_back(rank(i), i);
  if (count > most) {
    std::ranges::sort(all);
    all.resize(most);
  }
  std::vector<std::size_t> made;
  made.reserve(all.size());
  for (const auto& [of, index] : all) made.push_back(index);
  std::ranges::sort(made);
  return made;
}

}  // namespace tidemark
