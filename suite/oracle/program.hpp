// What a program must leave behind, found by following its barriers and pulling its boxes. Written
// from the PTX ISA, apart from every device. Where the documents leave something open, so does the
// prediction.
#pragma once

#include <cstdint>
#include <vector>

#include "kernels/device.hpp"
#include "kernels/ops/program/program.hpp"
#include "suite/oracle/expectation.hpp"
#include "suite/oracle/program/stores.hpp"
#include "suite/outcome.hpp"

namespace tidemark {

/// What a step leaves in the trace: `value`, in the bits of `judged`. The other bits are open.
struct ExpectedTrace {
  std::uint64_t value = 0;
  std::uint64_t judged = ~std::uint64_t{0};
};

/// Bytes of a window.
struct Part {
  std::uint32_t begin = 0, end = 0;
};

/// C of Program::products[number].
struct ExpectedProduct {
  std::uint8_t number = 0;
  Part part;
};

/// 32 chunks that the lanes of a warp read: lane l has row l % rows.
struct ExpectedLanes {
  std::uint32_t rows = 0, first_column = 0;
  Part part;
};

/// The shared window of a CTA.
struct ExpectedWindow {
  std::vector<std::uint8_t> bytes;
  std::vector<Compare> compare;     // one a byte; empty: all exact
  std::vector<std::uint8_t> other;  // what each byte may be instead, while a copy that may have
                                    // landed was not seen to; empty: nothing
  std::vector<TileLoad> tiles;      // that landed in it, with destination_offset behind a guard
  std::vector<ExpectedProduct> products;
  std::vector<ExpectedLanes> lanes;
  bool filled = false;  // to be stored from
};

struct ExpectedSnapshot {
  std::uint32_t step = 0, cta = 0;
  ExpectedWindow window;
};

struct ProgramExpectation {
  std::vector<ExpectedSnapshot> snapshots;  // in the order of RunResult::bytes
  std::vector<ExpectedTrace> trace;         // of RunResult::trace
  std::vector<std::uint8_t> regions;        // of RunResult::surroundings
  std::vector<Compare> region_compare;      // one a byte; empty: all exact
  std::vector<StoredBox> stores;            // in the order of their issue
  std::vector<std::uint32_t> owners;        // one a 16 bytes of `regions`: 1 + the last of `stores`
                                            // that put something there, or 0
};

/// PTX ISA 9.0, 9.7.13.15: a phase completes when no arrival is pending and the tx-count is zero;
/// bytes that come in pieces of no documented size may let it pass zero. Throws Error where the
/// program is not sound, or does what no document defines: with the map, or the step.
ProgramExpectation predict(const Program& program);

/// Bytes that every credit of the load is a multiple of, so that a phase ends early only at a
/// multiple of them. No document says so: 16 where a row is not made of whole 32-byte sectors or a
/// part of the box lies outside the tensor, else 32. Measured on an H200, driver 580.159.04,
/// 2026-11: suite/conformance/behaviour_load.cpp.
std::uint32_t credit_step(const TileLoad& load);

/// The load that a step issues.
TileLoad tile_of(const Program& program, const Step& step);

/// Everything in `result` that `expected` does not say: at most one Miscompare for each box and
/// one for the rest of each snapshot, one for what was stored to the regions and one for the rest
/// of them, and the first few wrong traces. Offsets count through all snapshots, and through all
/// regions.
std::vector<Miscompare> compare(const Program& program, const ProgramExpectation& expected,
                                const RunResult& result, std::uint32_t row);

/// The same of the regions alone.
void compare_regions(const Program& program, const ProgramExpectation& expected,
                     const RunResult& result, std::uint32_t row, std::vector<Miscompare>& found);

}  // namespace tidemark
