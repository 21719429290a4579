// What a copy between neighbours must leave: its program is this rank's, but what that reads, what
// it leaves and what this rank sees of its own memory belong to three ranks.
#pragma once

#include "kernels/ops/peer_tile.hpp"
#include "suite/oracle/program.hpp"

namespace tidemark {

struct PeerExpectation {
  ProgramExpectation copy;    // by this rank, on the memory of the next
  Program before;             // the copy of the rank before,
  ProgramExpectation memory;  // which leaves its regions in this rank's own allocation
};

/// Throws Error as the predictions of programs do.
PeerExpectation predict(const PeerTile& op);

/// As for the program that it is. Bytes that this rank wrote itself, in place of the other rank's,
/// are named.
std::vector<Miscompare> compare(const PeerTile& op, const PeerExpectation& expected,
                                const RunResult& result, std::uint32_t row);

}  // namespace tidemark
