// Says in words which mismatch a row detected.
#include <fmt/format.h>

#include "suite/oracle/expect_tx.hpp"

namespace tidemark::suite {
namespace {

std::string outcome_words(const ExpectTx& op, const TransactionLedger& seen) {
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

std::string wait_words(const TransactionLedger& seen) {
  if (!seen.waited) return "did not return";
  return seen.pieces_missing > 0 ? "returned at once, before the data" : "returned at once";
}

}  // namespace

std::string mismatch_words(const ExpectTx& op, const std::vector<TransactionLedger>& seen) {
  if (seen.empty()) return "";
  std::string words = amount_words(op);
  const auto add = [&words](const std::string& more) {
    words += (words.empty() ? "" : ", ") + more;
  };
  if (!arrives_on(op, 0) && op.on == AnnouncedOn::copys_barrier) add("no arrival");
  if (op.parity == 1) add("waited for the wrong phase, which " + wait_words(seen[0]));
  if (words.empty()) return "";
  return words + ": " + outcome_words(op, seen[0]);
}

}  // namespace tidemark::suite
