// What the PTX ISA promises of mbarriers whose announcement does not fit what comes, and what it
// leaves open.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "kernels/device.hpp"
#include "suite/room.hpp"

namespace tidemark::suite {

/// How phase 0 of a barrier ends. PTX ISA 9.0, 9.7.13.15.6: when no arrival is pending and the
/// tx-count has reached zero.
enum class Completion : std::uint8_t {
  never,  // no arrival, or announced and credited bytes that differ when nothing more comes
  completes,
  open,  // fewer bytes announced than come, in pieces of no documented size: if a piece ends where
         // the count is zero it completes early, else never
};

/// Of barrier `barrier` (announced_barrier()).
Completion completion_of(const ExpectTx& op, std::uint32_t barrier);

/// `seen` without what is open for `op` and what is only for reading: two devices that keep all
/// promises agree in what is left.
std::vector<TransactionLedger> promised(const ExpectTx& op, std::vector<TransactionLedger> seen);

/// What was wrong with the announcement and what came of it, in words for a report:
/// "over-announced by 16 of 8192 bytes: did not complete". Empty for an exact announcement that
/// completed.
std::string mismatch_words(const ExpectTx& op, const std::vector<TransactionLedger>& seen);

}  // namespace tidemark::suite
