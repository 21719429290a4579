// An mbarrier as the virtual device keeps it: phase, arrivals and bytes still to come.
#pragma once

#include <cstdint>

#include "kernels/fault.hpp"

namespace tidemark {

/// Largest arrival count, and largest magnitude of the tx-count. PTX ISA 9.0, 9.7.13.15.2.
inline constexpr std::int32_t kMbarrierMax = (1 << 20) - 1;

/// The state of one barrier. A phase completes when no arrival is pending and the tx-count is
/// exactly zero (on an H200 a count that passes zero between two credits does not complete); this
/// is looked at when an arrival or a credit comes, not when more is announced. A tx-count that is
/// not zero at that moment cannot complete, and what comes later counts for the next phase.
struct Mbarrier {
  std::uint32_t expected = 1;  // arrivals a phase
  std::uint32_t pending = 1;   // arrivals this phase still waits for
  std::int32_t tx = 0;         // bytes announced and not yet credited; may be negative
  std::uint32_t phase = 0;     // completed phases; its low bit is the parity of the current one
  Fault fault = kNoFault;
  bool saturates = false;  // a tx-count or count that would leave its range stops at its end
};

/// A barrier for `count` arrivals a phase. Throws Error unless count is in 1..kMbarrierMax.
Mbarrier init_mbarrier(std::uint32_t count, Fault fault = kNoFault);

/// One arrival; may complete the phase. Throws Error when none is pending.
void arrive(Mbarrier& barrier);

/// Takes one arrival off those that later phases wait for; to be followed by an arrival. Throws
/// Error where none would be left.
void drop(Mbarrier& barrier);

/// One arrival where one is awaited, and nothing where none is: for operations that go on behind a
/// wait which a fault let return too soon.
void arrive_if_awaited(Mbarrier& barrier);

/// Announces bytes; completes nothing. Throws Error when the tx-count leaves its range and does not
/// saturate.
void expect_tx(Mbarrier& barrier, std::uint32_t bytes);

/// Announces bytes, then arrives once. PTX ISA 9.0, 9.7.13.15.13.
void arrive_expect_tx(Mbarrier& barrier, std::uint32_t bytes);

/// Credits bytes; may complete the phase. Throws Error when the tx-count leaves its range and does
/// not saturate.
void complete_tx(Mbarrier& barrier, std::uint32_t bytes);

/// Says whether the phase of this parity has completed. Only the current phase and the one before
/// it can be told apart: on a fresh barrier, parity 1 reads as completed.
bool test_wait(const Mbarrier& barrier, std::uint32_t parity);

}  // namespace tidemark
