// A tile load whose announcement is wrong on purpose: what its mbarriers do, what they still owe,
// and whether they can be brought back.
#pragma once

#include <algorithm>
#include <array>
#include <cstdint>

#include "kernels/ops/tile_load.hpp"

namespace tidemark::kernels {

/// Largest magnitude of a tx-count. PTX ISA 9.0, 9.7.13.15.2.
inline constexpr std::uint32_t kTxCountMax = (1U << 20) - 1;

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

/// One copy with an announcement that need not fit it, then a measurement and the recovery, all
/// with defined operations and bounded waits. There is one block, or a cluster of two where the
/// announcement goes to the peer; each block has two barriers, A and B, of count 1, and a window.
/// The device
///   1. fills the source allocation (as for a TileLoad) and each window with poison_byte(),
///      initialises the barriers and records test_wait(phase 0) of each;
///   2. in block 0, in the order that `order` says, announces `announced` bytes `announcements`
///      times, all but the last by a plain expect_tx, arrives as `arrival` says, and issues the
///      copy on A, or, where `simulated` is not zero, credits A with mbarrier.complete_tx for each
///      entry in turn; "has landed" is 1 ms after the issue;
///   3. waits for phase `parity` on A of block 0: at most 50 ms where the announcement fits, 1 ms
///      where it does not; counts the 16-byte pieces of the tile that then still are poison;
///   4. lets 1 ms go by, so that everything has landed whatever was announced;
///   5. settles each barrier, in the block that it belongs to. It records test_wait(phase 0);
///   arrives
///      if the current phase still waits for its arrival, that is if phase 0 is complete or nobody
///      arrived on the barrier. If that completes the current phase the tx-count was 0. Else it is
///      not 0 and cannot complete: expect_tx(meter_slack()) makes it positive, complete_tx of
///      meter_stride() takes off what certainly is there, and complete_tx(1) steps follow, at most
///      meter_steps() of them, until the phase completes. Taken off less slack is the residue: what
///      was announced and not credited;
///   6. reads windows and source back, where A was settled only after observing its last phase;
///   7. on each settled barrier records test_wait of the next phase; on A of block 0 announces and
///      issues an exact copy and waits for it; then invalidates the settled barriers.
/// A barrier that reads as complete in step 1 is left alone from then on. A wait that was expected
/// to end by its bound is no DeviceFault.
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

/// Barriers, numbered A and B of block 0, A and B of block 1.
constexpr std::uint32_t barriers_of(const ExpectTx& op) { return 2 * blocks_of(op); }

/// The number of the barrier that the announcements are made on.
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

/// Bytes by which a barrier may have been credited too much and the meter still reads right.
inline constexpr std::uint32_t kMeterMargin = 1024;

/// Step 5: announced on `barrier` so that its tx-count is positive even after credit_bytes() and
/// the margin, as far as its range allows.
constexpr std::uint32_t meter_slack(const ExpectTx& op, std::uint32_t barrier) {
  const std::uint64_t most = std::uint64_t{credit_bytes(op)} + kMeterMargin;
  const std::uint64_t announced = announced_bytes(op, barrier);
  if (announced >= most || announced >= kTxCountMax) return 0;
  return static_cast<std::uint32_t>(std::min(most, std::uint64_t{kTxCountMax}) - announced);
}

/// Step 5: bytes that may be taken off in one piece, since even the most credit has left them.
constexpr std::uint32_t meter_stride(const ExpectTx& op, std::uint32_t barrier) {
  const std::uint64_t most = std::uint64_t{credit_bytes(op)} + kMeterMargin;
  const std::uint64_t announced = announced_bytes(op, barrier) + meter_slack(op, barrier);
  return static_cast<std::uint32_t>(announced > most ? announced - most : 0);
}

/// Step 5: the most single bytes that are taken off then. kMeterMargin of them are left on the
/// copy's barrier where all is right, and the announcement more on another one. Even a device that
/// lost every announcement is not driven out of the range of its tx-count.
constexpr std::uint32_t meter_steps(const ExpectTx& op, std::uint32_t barrier) {
  const std::uint32_t spent = credit_bytes(op) + meter_stride(op, barrier);
  return std::min(std::min(credit_bytes(op), 32768U) + kMeterMargin, kTxCountMax - spent);
}

/// Bytes of RunResult::bytes: the window of block 0, then that of block 1.
constexpr std::uint32_t windows_bytes(const ExpectTx& op) {
  return blocks_of(op) * window_bytes(op.load);
}

}  // namespace tidemark::kernels
