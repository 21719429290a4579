// Fuzz target: a report whose rows and text were changed, as a file of HDF5 might hold them. What
// the reader lets through is shown, exported or compared, as the first byte says. Each change is 12
// bytes: table, row, length, place, value.
#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <span>
#include <string>

#include "reports/base/error.hpp"
#include "reports/compare/comparison.hpp"
#include "reports/export/export.hpp"
#include "reports/render/show.hpp"
#include "reports/store/hdf5/image.hpp"
#include "reports/store/report.hpp"
#include "reports/testing/example_launch.hpp"

using namespace tidemark;

namespace {

struct Change {
  std::uint8_t table, row, bytes, at;
  std::array<std::uint8_t, 8> value;
};

void apply(const Change& change, Report& report) {
  std::size_t table = 0;
  for_each_table(report, [&](const Table&, auto& rows) {
    if (table++ != change.table % 12U || rows.empty()) return;
    auto& row = rows[change.row % rows.size()];
    const std::size_t at = change.at * 4U % sizeof row;
    const std::size_t bytes = std::min<std::size_t>({change.bytes % 8U + 1U, sizeof row - at, 8});
    std::memcpy(reinterpret_cast<char*>(&row) + at, change.value.data(), bytes);
  });
  if (change.table >= 240 && !report.strings.empty()) {
    std::string& text = report.strings[change.row % report.strings.size()];
    text.assign(reinterpret_cast<const char*>(change.value.data()), change.bytes % 9U);
  }
}

/// One of all ways, since most take as long as the rest of an execution.
void read_on(std::uint8_t way, const Report& report, const Report& other) {
  const std::span<const Format> all = formats();
  const std::size_t number = way % (2 * all.size() + 3);
  if (number < all.size()) {
    show(report, {.all = true, .notes = true}, all[number].name);
  } else if (number == all.size()) {
    all_prometheus_of(report);
  } else if (number == all.size() + 1) {
    ocp_of(report);
  } else if (number == all.size() + 2) {
    drain_of(report);
  } else {
    const Comparison made = compare_launches({facts_of(other, "a")}, {facts_of(report, "b")}, {});
    show_comparison(made, {}, all[number - all.size() - 3].name);
  }
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  static const Report original = assemble(example_journals(), {});
  Report report = original;
  report.launch.run_id += '2';
  if (size == 0) return 0;
  for (std::size_t at = 1; at + sizeof(Change) <= size; at += sizeof(Change)) {
    Change change;
    std::memcpy(&change, data + at, sizeof change);
    apply(change, report);
  }
  try {
    check_references(report, "fuzzed");
    for (const ResultRow& result : report.results) {
      const std::string command = replay_command(report, result);
      if (command.find_first_of("\\\"'`$&|;<>()[]{}*?!#~\n\r\t\x1b") != std::string::npos)
        std::abort();
    }
    read_on(data[0], report, original);
  } catch (const ReportError&) {
  }
  return 0;
}
