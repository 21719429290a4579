// Counts, and turns lists of announcements into a line that a person reads.
#include "suite/oracle/program/early_completions.hpp"

#include <fmt/format.h>

namespace tidemark::suite {
namespace {

constexpr std::size_t kListed = 8;

// "1024 to 7168 in steps of 1024", or the first few of them.
std::string list_words(const std::vector<std::uint64_t>& values) {
  bool even = values.size() > 2;
  for (std::size_t i = 2; i < values.size(); ++i)
    even = even && values[i] - values[i - 1] == values[1] - values[0];
  if (even)
    return fmt::format("{} to {} in steps of {}", values.front(), values.back(),
                       values[1] - values[0]);
  std::string words;
  for (std::size_t i = 0; i < values.size() && i < kListed; ++i)
    words += fmt::format("{}{}", i == 0 ? "" : ", ", values[i]);
  return words + (values.size() > kListed ? ", ..." : "");
}

}  // namespace

bool EarlyCompletions::concerns(const ExpectTx& op, const MismatchSeen& seen) {
  const bool racing = arrives_on(op, 0) && op.arrival != Arrival::late &&
                      op.order != IssueOrder::landed_first && !is_simulated(op);
  const std::uint64_t announced = announced_bytes(op, 0);
  return seen.open || (racing && announced > 0 && announced < credit_bytes(op));
}

void EarlyCompletions::add(const ExpectTx& op, const MismatchSeen& seen) {
  if (!concerns(op, seen)) return;
  Count& count = boxes_[credit_bytes(op)][announced_bytes(op, 0)];
  ++count.runs;
  if (seen.complete) ++count.early;
}

std::vector<std::string> EarlyCompletions::notes() const {
  std::vector<std::string> notes;
  for (const auto& [bytes, announcements] : boxes_) {
    std::vector<std::uint64_t> early;
    std::size_t sometimes = 0;
    for (const auto& [announced, count] : announcements) {
      if (count.early > 0) early.push_back(announced);
      if (count.early > 0 && count.early < count.runs) ++sometimes;
    }
    std::string note =
        fmt::format("{}-byte box under-announced: completed early at {} of {} announcements", bytes,
                    early.size(), announcements.size());
    if (!early.empty()) note += fmt::format(" ({})", list_words(early));
    if (sometimes > 0) note += fmt::format(", at {} of them not every time", sometimes);
    notes.push_back(note + ", else never");
  }
  return notes;
}

}  // namespace tidemark::suite
