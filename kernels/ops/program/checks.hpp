// The checks of every program. The runner adds them, so that no case can leave them out.
#pragma once

#include <algorithm>
#include <cstdint>

#include "kernels/ops/op.hpp"
#include "kernels/ops/program/program.hpp"

namespace tidemark {

/// `program` with its checks. It begins with poison in every window. Each barrier is checked before
/// it is invalidated, and those that are left at the end, where each CTA's window is handed out as
/// well:
///   1. everything in flight is given time to land;
///   2. a meter counts what is pending, and the phase behind it is tested, which must be open;
///   3. the last boxes that completed on the barrier are loaded once more into a poisoned window,
///      announced exactly, and the window is handed out: a phase that credit from before keeps
///      open, or completes early, is seen here. Where they are multicast all CTAs take part, and
///      the windows of those outside the mask are handed out as well;
///   4. a second meter counts what came too much or too late.
/// Barriers that no copy completed on have no step 3. A program that stops has none of what is
/// behind the stop.
Program with_checks(const Program& program);

/// The program of a row that is_program(), with its checks. Throws Error for any other.
Program checked_program(const Op& op);

// How much a meter (Verb::meter) may announce and take off, so that it reads right however much a
// device credited too much or too little, and leaves no tx-count out of its range.

/// Bytes by which a barrier may have been credited too much and the meter still reads right.
inline constexpr std::uint32_t kMeterMargin = 1024;

/// What a barrier was told since the last phase that was seen to complete.
struct BarrierAccount {
  std::uint64_t announced = 0;  // bytes
  std::uint64_t credited = 0;   // bytes that a right device credits
};

/// Step::bytes: makes the tx-count positive even after all credit and the margin, as far as its
/// range allows.
constexpr std::uint32_t meter_slack(const BarrierAccount& account) {
  const std::uint64_t most = account.credited + kMeterMargin;
  if (account.announced >= most || account.announced >= kTxCountMax) return 0;
  return static_cast<std::uint32_t>(std::min(most, std::uint64_t{kTxCountMax}) - account.announced);
}

/// Step::stride: bytes that may be taken off in one piece, since even the most credit has left
/// them.
constexpr std::uint32_t meter_stride(const BarrierAccount& account) {
  const std::uint64_t most = account.credited + kMeterMargin;
  const std::uint64_t announced = account.announced + meter_slack(account);
  return static_cast<std::uint32_t>(announced > most ? announced - most : 0);
}

/// Step::most: kMeterMargin of them are left on the copy's barrier where all is right, and the
/// announcement more on another one. Even a device that lost every announcement is not driven out
/// of the range of its tx-count.
constexpr std::uint32_t meter_most(const BarrierAccount& account) {
  const auto credit = static_cast<std::uint32_t>(account.credited);
  const std::uint32_t spent = credit + meter_stride(account);
  return std::min(std::min(credit, 32768U) + kMeterMargin, kTxCountMax - spent);
}

}  // namespace tidemark
