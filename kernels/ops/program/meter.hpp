// How much a meter (Verb::meter) may announce and take off, so that it reads right however much a
// device credited too much or too little, and leaves no tx-count out of its range.
#pragma once

#include <algorithm>
#include <cstdint>

#include "kernels/ops/program/program.hpp"

namespace tidemark {

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
