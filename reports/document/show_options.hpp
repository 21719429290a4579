// How a verb is asked to show something.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

namespace tidemark::reports {

enum class Format : std::uint8_t { terminal, json, markdown, csv, junit, html };

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
  Format format = Format::terminal;
  std::uint32_t columns = 100;  // of the terminal
  /// Of a case and one of its metrics; terminal only. Without it nothing is printed beside.
  std::function<PrintedBeside(std::string_view, std::string_view)> beside = {};
  /// Of a result that did not pass: the command that runs its failing row alone, or empty. In all
  /// formats but JSON and CSV.
  std::function<std::string(std::uint32_t)> replayed_by = {};
  std::vector<std::string> refused = {};  // a line for each file of a history that was not read
  std::set<std::string> fail_on = {};     // findings of a comparison that fail in JUnit

  bool is(Format one) const { return format == one; }
  /// How many of a list to show: of a page more than of a terminal; Markdown has a size instead.
  std::size_t most(std::size_t on_terminal, std::size_t on_page) const {
    const bool capped = !all && !is(Format::markdown);
    return !capped ? static_cast<std::size_t>(-1) : is(Format::html) ? on_page : on_terminal;
  }
};

}  // namespace tidemark::reports
