// What a program of a mismatched announcement was seen to do, in the words of the mismatch.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "kernels/device.hpp"
#include "suite/oracle/program.hpp"

namespace tidemark {

// What a program of a mismatched announcement was seen to do, in the words of the mismatch.

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

// Gathers what under-announced copies did where the documents leave it open: which announcements
// completed early tells in what pieces a device credits.

/// The open rows of a case, by the size of their box and the bytes announced.
class EarlyCompletions {
 public:
  /// Whether phase 0 of the copy's barrier may end early, or is one of a sweep beside such.
  static bool concerns(const ExpectTx& op, const MismatchSeen& seen);

  /// Counts a row that is concerned.
  void add(const ExpectTx& op, const MismatchSeen& seen);

  /// One line a size: "8192-byte box under-announced: completed early at 7 of 511 announcements
  /// (1024 to 7168 in steps of 1024), else never".
  std::vector<std::string> notes() const;

 private:
  struct Count {
    std::uint32_t early = 0, runs = 0;
  };
  std::map<std::uint32_t, std::map<std::uint64_t, Count>> boxes_;  // tile bytes, announced bytes
};

}  // namespace tidemark
