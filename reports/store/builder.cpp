// Counts what was announced, hands out the place where it belongs, and checks the whole at the end.
#include "reports/store/builder.hpp"

#include <fmt/format.h>
#include <sys/mman.h>

#include <memory>
#include <utility>

#include "reports/store/each_table.hpp"
#include "reports/store/hdf5/image.hpp"

namespace tidemark::reports {
namespace {

/// Two million rows are a hundred thousand pages, and getting them one by one costs as much as
/// filling them. Where the system has no larger ones to give, nothing is lost.
void ask_for_large_pages(void* start, std::size_t bytes) {
  constexpr std::size_t kLargePage = 2u << 20, kPage = 4096;
  if (bytes < 2 * kLargePage || std::align(kPage, kPage, start, bytes) == nullptr) return;
  ::madvise(start, bytes / kPage * kPage, MADV_HUGEPAGE);
}

}  // namespace

ReportBuilder::ReportBuilder(std::string name, std::uint64_t most_bytes)
    : name_(std::move(name)), bytes_left_(most_bytes) {}

void ReportBuilder::refuse() const {
  throw ReportError(
      fmt::format("{}: what was read of it is no report; it was damaged or made to do harm: get it "
                  "again from where it came",
                  name_));
}

void ReportBuilder::launch(const LaunchRow& launch) {
  if (launched_) refuse();
  launched_ = true;
  report_.launch = launch;
}

void ReportBuilder::begin(std::size_t part, std::uint64_t elements) {
  if (!launched_ || part != next_part_ || open_ != 0) refuse();
  ++next_part_;
  const auto make_room = [&](auto& rows) {
    const std::uint64_t element_bytes = sizeof(rows[0]);
    if (elements > bytes_left_ / element_bytes) refuse();
    open_ = elements * element_bytes;
    bytes_left_ -= open_;
    rows.reserve(elements);
    ask_for_large_pages(rows.data(), open_);
    rows.resize(elements);
    place_ = reinterpret_cast<char*>(rows.data());
  };
  std::size_t table = 0;
  for_each_table(report_, [&](const Table&, auto& rows) {
    if (table++ == part) make_room(rows);
  });
  if (part == table) return make_room(string_index_);
  if (part == table + 1) return make_room(text_);
  if (part > table + 1) refuse();
}

std::span<char> ReportBuilder::room(std::uint64_t bytes) {
  if (bytes > open_) refuse();
  const std::span<char> given(place_, bytes);
  place_ += bytes;
  open_ -= bytes;
  return given;
}

void ReportBuilder::cut_strings() {
  // One after the other and no overlap: else a small file could claim any amount of text.
  std::uint64_t next = 0;
  report_.strings.reserve(string_index_.size());
  for (const StringIndexRow& row : string_index_) {
    if (row.offset != next || row.length > text_.size() - next) {
      throw ReportError(fmt::format(
          "{}: string {} does not lie where it should; it was damaged or made by another program",
          name_, report_.strings.size()));
    }
    report_.strings.emplace_back(text_, next, row.length);
    next += row.length;
  }
}

Report ReportBuilder::finish() {
  if (!launched_ || next_part_ != tables().size() + 1 || open_ != 0) refuse();
  cut_strings();
  check_references(report_, name_);
  return std::move(report_);
}

}  // namespace tidemark::reports
