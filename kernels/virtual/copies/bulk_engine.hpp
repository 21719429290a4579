// The virtual device's asynchronous copy engine: it moves chunks of 16 bytes in an order of its own
// and credits an mbarrier behind them; and that mbarrier.
#pragma once

#include <array>
#include <cstdint>
#include <functional>
#include <vector>

#include "kernels/fault.hpp"
#include "kernels/ops/payload.hpp"

namespace tidemark {

// An mbarrier as the virtual device keeps it: phase, arrivals and bytes still to come.

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

// Numbers for the order in which the virtual device does things: the same seed, the same order.

/// A stream of draws; copies continue independently from the same place.
struct Draw {
  std::uint64_t state = 0;
};

/// The next number in 0..bound-1; `bound` is at least 1. The bias of the multiplication is below
/// bound / 2^32 and of no importance for an order.
inline std::uint32_t below(Draw& draw, std::uint32_t bound) {
  draw.state += 0x9e3779b97f4a7c15ULL;
  return static_cast<std::uint32_t>(((splitmix64(draw.state) >> 32) * bound) >> 32);
}

inline constexpr std::uint32_t kChunkBytes = 16;

/// A stretch of shared memory by absolute address. Stores outside it are lost.
struct SharedWindow {
  std::int64_t address = 0;
  std::vector<std::uint8_t> bytes;
};

/// Sixteen bytes on their way, aligned to 16 in shared memory.
struct Chunk {
  std::int64_t address = 0;  // where it belongs: absolute, in shared memory
  std::array<std::uint8_t, kChunkBytes> bytes{};
  std::uint16_t written = 0xffff;      // bit i: byte i is stored
  std::uint32_t inside = kChunkBytes;  // bytes that came from inside the tensor
  std::uint32_t credit = kChunkBytes;  // bytes that it credits
};

/// Stores the bytes of `chunk` that are marked as written at an absolute shared address.
void store(SharedWindow& shared, std::int64_t address, const Chunk& chunk);

/// A copy as it is issued. What it points to must outlive its delivery.
struct BulkCopy {
  std::uint32_t chunks = 0;
  std::function<Chunk(std::uint32_t)> chunk;  // computes chunk `index`, reading the source then
  std::int64_t destination = 0;               // shared address of the first byte
  SharedWindow* shared = nullptr;
  Mbarrier* barrier = nullptr;
  std::uint32_t together = 1;  // chunks that are credited only together
  bool forgives = false;       // its end takes off a surplus below 16 bytes: by a fault
  Fault fault = kNoFault;      // in place of the engine's, where there is one
};

/// Copies in flight. Nothing moves by itself: time passes where somebody delivers or waits.
class BulkEngine {
 public:
  explicit BulkEngine(std::uint64_t seed, Fault fault = kNoFault);
  BulkEngine(BulkEngine&&) = default;
  BulkEngine& operator=(BulkEngine&&) = default;
  BulkEngine(const BulkEngine&) = delete;
  BulkEngine& operator=(const BulkEngine&) = delete;

  /// Takes a copy and draws the order of its chunks. Delivers nothing yet.
  void issue(BulkCopy copy);

  /// Delivers one chunk of one copy in flight and credits when a group of chunks is complete.
  /// False when nothing is in flight.
  bool deliver_one();

  void deliver_all();

  /// Chunks that are still to be delivered, of all copies.
  std::uint32_t chunks_in_flight() const;

  /// One try_wait: lets a drawn number of chunks land and returns at once when the phase flips.
  bool try_wait(const Mbarrier& barrier, std::uint32_t parity);

 private:
  struct InFlight {
    BulkCopy copy;
    std::vector<std::uint32_t> order;
    std::uint32_t next = 0;        // into order
    std::uint32_t group_left = 0;  // chunks until the next credit
    std::uint32_t uncredited = 0;  // bytes landed since the last credit
  };

  Fault fault_of(const BulkCopy& copy) const;
  void land(const BulkCopy& copy, std::uint32_t index, std::uint32_t& uncredited) const;
  void credit(InFlight& flight);
  std::uint32_t draw_group(const BulkCopy& copy);

  Draw draw_;
  Fault fault_;
  std::vector<InFlight> in_flight_;
};

/// Repeats try_wait until the phase of `parity` has completed or `tries` are used up; every try
/// delivers at least one chunk while there is one.
bool wait_bounded(BulkEngine& engine, const Mbarrier& barrier, std::uint32_t parity,
                  std::uint32_t tries);

}  // namespace tidemark
