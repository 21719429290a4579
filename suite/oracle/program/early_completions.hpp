// Gathers what under-announced copies did where the documents leave it open: which announcements
// completed early tells in what pieces a device credits.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "suite/oracle/expect_tx.hpp"
#include "suite/room.hpp"

namespace tidemark::suite {

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

}  // namespace tidemark::suite
