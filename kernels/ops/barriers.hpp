// Programs of barriers: expect_tx, cycles of phases, and multicast loads.
#pragma once

#include <array>
#include <cstdint>

#include "kernels/ops/payload.hpp"
#include "kernels/ops/program/program.hpp"
#include "kernels/ops/tensor_map.hpp"
#include "kernels/ops/tile_load.hpp"

namespace tidemark {

// A tile load whose announcement is wrong on purpose: what its mbarriers do, what they still owe,
// and whether they can be brought back.

/// Which barrier is told of the bytes. The copy always completes on barrier A of block 0.
enum class AnnouncedOn : std::uint8_t {
  copys_barrier,  // A of block 0
  other_barrier,  // B of block 0
  peer,           // A of block 1, in a cluster of two blocks
};

/// The one arrival that a phase waits for.
enum class Arrival : std::uint8_t {
  with_announcement,  // arrive.expect_tx: on the barrier that the announcement is made on
  separate,           // a plain arrive on the copy's barrier, right after the announcements
  late,               // the same, when the copy has landed
  missing,            // none before the recovery
};

enum class IssueOrder : std::uint8_t {
  announced_first,
  issued_first,  // announced while the copy is on its way
  landed_first,  // announced when it has landed
};

/// One copy with an announcement that need not fit it. There is one CTA, or a cluster of two where
/// the announcement goes to the peer; each CTA has two barriers, A and B, of count 1, and a window.
/// The program
///   1. initialises each barrier and tests its phase 0;
///   2. on CTA 0, in the order asked for, issues the copy, which completes on A (or takes
///   `simulated`
///      bytes off it by hand), makes the announcements, and arrives; "has landed" is 1 ms after the
///      issue;
///   3. waits for phase `parity` on A of CTA 0: at most 50 ms where the announcement fits, 1 ms
///      where it does not; counts the 16-byte pieces of the tile that then still are poison.
/// What is pending on the barriers then, and that they can be brought back, is for the checks that
/// every program ends with.
struct ExpectTx {
  TileLoad load;
  std::uint32_t announced = 0;      // bytes that each announcement says; 0 is one, too
  std::uint32_t announcements = 1;  // 0 to 2
  AnnouncedOn on = AnnouncedOn::copys_barrier;
  Arrival arrival = Arrival::with_announcement;
  IssueOrder order = IssueOrder::announced_first;
  std::uint32_t parity = 0;  // that step 3 waits for: 0 is right, 1 the phase before a fresh one
  std::array<std::uint32_t, 2> simulated{};  // bytes; not zero: instead of the copy
};

constexpr Payload& payload_of(ExpectTx& op) { return op.load.payload; }

constexpr std::uint32_t blocks_of(const ExpectTx& op) { return op.on == AnnouncedOn::peer ? 2 : 1; }

/// The number of the barrier that the announcements are made on: A and B of CTA 0, then of CTA 1.
constexpr std::uint32_t announced_barrier(const ExpectTx& op) {
  return static_cast<std::uint32_t>(op.on);
}

/// Bytes announced on barrier `barrier` before the recovery.
constexpr std::uint64_t announced_bytes(const ExpectTx& op, std::uint32_t barrier) {
  return barrier == announced_barrier(op) ? std::uint64_t{op.announced} * op.announcements : 0;
}

/// Whether somebody arrives on barrier `barrier` before the recovery.
constexpr bool arrives_on(const ExpectTx& op, std::uint32_t barrier) {
  switch (op.arrival) {
    case Arrival::with_announcement:
      return op.announcements > 0 && barrier == announced_barrier(op);
    case Arrival::separate:
    case Arrival::late:
      return barrier == 0;
    case Arrival::missing:
      break;
  }
  return false;
}

constexpr bool is_simulated(const ExpectTx& op) { return op.simulated[0] != 0; }

/// Bytes that A of block 0 is credited with in step 2.
constexpr std::uint32_t credit_bytes(const ExpectTx& op) {
  return is_simulated(op) ? op.simulated[0] + op.simulated[1] : tile_bytes(op.load.map);
}

/// Whether phase 0 of A is to complete: how long step 3 may wait.
constexpr bool is_announced_exactly(const ExpectTx& op) {
  return announced_bytes(op, 0) == credit_bytes(op) && arrives_on(op, 0) && op.parity == 0;
}

/// Throws Error where the announcements or the credits leave the range of a tx-count.
Program program_of(const ExpectTx& op);

// One mbarrier through several lives: initialised, used for some phases, invalidated, its memory
// used as plain data, initialised again with another count.

/// From an init to the inval.
struct BarrierLife {
  std::uint32_t count = 1;   // arrivals a phase, each by a thread of its own; 1..kProgramThreads
  std::uint32_t phases = 1;  // parities 0, 1, 0, ...
};

inline constexpr std::uint32_t kCycleLives = 4;

/// One barrier cycle, run by one CTA. For each life the program initialises the same 8 bytes of
/// shared memory with its count; for each phase, numbered n over all lives, it
///   1. poisons the window, which the first phase finds poisoned, and tests the phase;
///   2. has one thread announce tile_bytes() with arrive.expect_tx and issue the load of the box at
///      `at` + n * step; with copy_first the load is issued first and given time to land;
///   3. has other threads arrive until one arrival is missing, gives the copy time to land, and
///      tests the phase again (not for count 1, whose last arrival is that of 2);
///   4. makes the last arrival, and waits in all threads;
///   5. copies the window out.
/// After the last phase of a life it invalidates the barrier, has one thread store
/// cycle_plain_word() in its 8 bytes, and another thread read them. A phase that does not complete
/// ends the cycle.
struct BarrierCycle {
  TensorMapSpec map;
  std::array<std::int32_t, kMaxRank> at{};
  std::array<std::int32_t, kMaxRank> step{};
  std::uint32_t life_count = 1;  // 1..kCycleLives
  std::array<BarrierLife, kCycleLives> lives{};
  bool copy_first = false;
  Payload payload;
};

/// What the runner sets for each run of a row.
constexpr Payload& payload_of(BarrierCycle& cycle) { return cycle.payload; }

/// What the barrier's memory holds as plain data after life `life`.
constexpr std::uint64_t cycle_plain_word(const BarrierCycle& cycle, std::uint32_t life) {
  return splitmix64(source_word(cycle.payload, life));
}

/// Throws Error where a life has no phase, or more arrivals than a CTA has threads.
Program program_of(const BarrierCycle& cycle);

// cp.async.bulk.tensor.{1..5}d.shared::cluster.global.tile.mbarrier::complete_tx::bytes
// .multicast::cluster: one box from global memory to several CTAs of a cluster at once.

/// One tile load, multicast in a cluster. CTAs are named by their rank in the cluster; bit r of
/// `mask` is the CTA of rank r. Each CTA has a window of window_bytes(load), and a barrier of count
/// 1. With `slices` n > 1 the box is cut into n equal slices along its outermost dimension. Slice i
/// is multicast by CTA (issuer + i) mod cluster size, each by a copy of its own, to all of the
/// mask. Twice over, the CTAs of the mask announce tile_bytes(load.map), the issuers issue when all
/// have, and each of the mask waits and hands its window out. With `late_arm` they announce only
/// after the issuers have issued and 0.1 ms have gone by: the tx-count is negative by then, which
/// is legal. PTX ISA 9.0, 9.7.13.15.2. What the CTAs outside the mask have is seen by the checks of
/// every program.
struct MulticastLoad {
  TileLoad load;
  std::array<std::uint32_t, 3> cluster{1, 1, 1};  // CTAs along x, y and z; 16 at most
  std::uint16_t mask = 1;                         // ctaMask
  std::uint32_t issuer = 0;  // rank of the CTA that issues (slice 0); may be outside the mask
  std::uint32_t slices = 1;  // 1 to cluster size
  bool late_arm = false;
};

constexpr Payload& payload_of(MulticastLoad& multicast) { return multicast.load.payload; }

constexpr std::uint32_t cluster_size(const MulticastLoad& multicast) {
  return multicast.cluster[0] * multicast.cluster[1] * multicast.cluster[2];
}

/// Slice `index` of the box as a load of its own: the map that is encoded has the box of a slice.
constexpr TileLoad slice_of(const MulticastLoad& multicast, std::uint32_t index) {
  TileLoad slice = multicast.load;
  const std::uint32_t outermost = slice.map.rank - 1;
  slice.map.box[outermost] /= multicast.slices;
  slice.at[outermost] += static_cast<std::int32_t>(index * slice.map.box[outermost]);
  slice.destination_offset += index * tile_bytes(slice.map);
  return slice;
}

/// Why no device may run this: a sentence, or null. What is refused here would fault (a mask bit
/// beyond the cluster) or is not documented (an empty mask), or is no multicast at all.
constexpr const char* refusal_of(const MulticastLoad& multicast) {
  for (const std::uint32_t along : multicast.cluster)
    if (along < 1 || along > kProgramCtas) return "a cluster has 1 to 16 CTAs a dimension";
  const std::uint32_t size = cluster_size(multicast);
  if (size > kProgramCtas) return "a cluster has at most 16 CTAs";
  if (multicast.mask == 0) return "what an empty mask does is not documented";
  if (multicast.mask >> size != 0) return "a mask bit beyond the cluster faults";
  if (multicast.issuer >= size) return "the issuer is no CTA of the cluster";
  if (multicast.slices < 1 || multicast.slices > size)
    return "each slice needs a CTA of its own to issue it";
  const TensorMapSpec& map = multicast.load.map;
  if (map.rank < 1 || map.rank > kMaxRank) return "the rank of a tensor is 1 to 5";
  if (multicast.slices == 1) return nullptr;
  if (map.im2col) return "the pixels of an im2col map have no slices";
  const std::uint32_t outermost = map.rank - 1;
  if (map.box[outermost] % multicast.slices != 0) return "the slices of the box are not equal";
  const std::uint32_t step = outermost == 0 ? 1 : map.element_stride[outermost];
  if (step == 0 || map.box[outermost] / multicast.slices % step != 0)
    return "a slice of the box is no multiple of the element stride";
  if (tile_bytes(slice_of(multicast, 0).map) % 128 != 0)
    return "a slice that is no multiple of 128 bytes starts the next one off 128 bytes";
  return nullptr;
}

/// Throws Error where refusal_of(multicast) says why.
Program program_of(const MulticastLoad& multicast);

}  // namespace tidemark
