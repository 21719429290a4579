// What a program of a mismatched announcement was seen to do, in the words of the mismatch.
#pragma once

#include <cstdint>
#include <string>

#include "kernels/device.hpp"
#include "suite/oracle/program.hpp"
#include "suite/room.hpp"

namespace tidemark::suite {

/// What came of phase 0 of barrier A of CTA 0.
struct MismatchSeen {
  bool complete = false;      // once everything had landed
  bool open = false;          // the documents leave it open whether it completes
  bool waited = false;        // the wait for the asked parity ended in time
  std::uint64_t missing = 0;  // 16-byte pieces of the tile that were poison when the wait ended
};

/// Of `program`, made of an ExpectTx with the checks of every program.
MismatchSeen seen_of(const Program& program, const ProgramExpectation& expected,
                     const RunResult& result);

/// What was wrong with the announcement and what came of it, in words for a report:
/// "over-announced by 16 of 8192 bytes: did not complete". Empty for an exact announcement that
/// completed.
std::string mismatch_words(const ExpectTx& op, const MismatchSeen& seen);

}  // namespace tidemark::suite
