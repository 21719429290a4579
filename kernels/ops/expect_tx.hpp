// A tile load whose announcement is wrong on purpose: what its mbarriers do, what they still owe,
// and whether they can be brought back.
#pragma once

#include <array>
#include <cstdint>

#include "kernels/ops/program/program.hpp"
#include "kernels/ops/tile_load.hpp"

namespace tidemark::kernels {

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

}  // namespace tidemark::kernels
