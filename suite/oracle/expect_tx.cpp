// What a program of a mismatched announcement was seen to do, in the words of the mismatch.
#include "suite/oracle/expect_tx.hpp"

#include <fmt/format.h>
#include <algorithm>

namespace tidemark {

// Finds what a mismatch came to in the trace of its program, and says it in words.

namespace {

std::string outcome_words(const ExpectTx& op, const MismatchSeen& seen) {
  if (!seen.complete) return "did not complete";
  const std::uint64_t announced = announced_bytes(op, 0);
  const std::uint64_t credit = credit_bytes(op);
  if (announced < credit)
    return fmt::format("completed early with {} bytes to come", credit - announced);
  return "completed";
}

// What is wrong with the bytes that barrier A is told of; empty where they fit.
std::string amount_words(const ExpectTx& op) {
  const std::uint64_t announced = announced_bytes(op, 0);
  const std::uint64_t credit = credit_bytes(op);
  if (op.announcements == 0) return fmt::format("no announcement of {} bytes", credit);
  if (op.on == AnnouncedOn::other_barrier)
    return fmt::format("announced {} bytes on the wrong barrier",
                       announced_bytes(op, announced_barrier(op)));
  if (op.on == AnnouncedOn::peer)
    return fmt::format("announced {} bytes on the wrong block's barrier",
                       announced_bytes(op, announced_barrier(op)));
  const std::string twice = op.announcements == 2 ? ", announced twice" : "";
  if (announced > credit)
    return fmt::format("over-announced by {} of {} bytes{}", announced - credit, credit, twice);
  if (announced < credit)
    return fmt::format("under-announced by {} of {} bytes{}", credit - announced, credit, twice);
  return "";
}

std::string wait_words(const MismatchSeen& seen) {
  if (!seen.waited) return "did not return";
  return seen.missing > 0 ? "returned at once, before the data" : "returned at once";
}

// The first step of `verb` that CTA 0 takes on barrier A.
std::size_t first_of(const Program& program, Verb verb) {
  const auto found = std::find_if(
      program.steps.begin(), program.steps.end(),
      [&](const Step& step) { return step.verb == verb && takes(step, 0) && step.barrier == 0; });
  return static_cast<std::size_t>(found - program.steps.begin()) * ctas_of(program);
}

}  // namespace

MismatchSeen seen_of(const Program& program, const ProgramExpectation& expected,
                     const RunResult& result) {
  if (result.trace.size() != expected.trace.size()) return {};
  const std::size_t meter = first_of(program, Verb::meter);
  return {.complete = (result.trace[meter] & kMeterComplete) != 0,
          .open = (expected.trace[meter].judged & kMeterComplete) == 0,
          .waited = result.trace[first_of(program, Verb::wait)] != 0,
          .missing = result.trace[first_of(program, Verb::missing)]};
}

std::string mismatch_words(const ExpectTx& op, const MismatchSeen& seen) {
  std::string words = amount_words(op);
  const auto add = [&words](const std::string& more) {
    words += (words.empty() ? "" : ", ") + more;
  };
  if (!arrives_on(op, 0) && op.on == AnnouncedOn::copys_barrier) add("no arrival");
  if (op.parity == 1) add("waited for the wrong phase, which " + wait_words(seen));
  if (words.empty()) return "";
  return words + ": " + outcome_words(op, seen);
}

// Counts, and turns lists of announcements into a line that a person reads.

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

}  // namespace tidemark
