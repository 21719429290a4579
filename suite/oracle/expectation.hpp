// What a row must leave behind, byte by byte.
#pragma once

#include <cstdint>
#include <vector>

#include "kernels/device.hpp"
#include "kernels/ops/multicast_load.hpp"

namespace tidemark {

/// How a byte of a destination is compared.
enum class Compare : std::uint8_t {
  exact,
  nan_element,  // the element that this byte belongs to must be a NaN; which one is not documented
};

struct Expectation {
  std::vector<std::uint8_t> bytes;         // of RunResult::bytes
  std::vector<Compare> compare;            // one a byte; empty: all exact
  std::vector<std::uint8_t> surroundings;  // of RunResult::surroundings, always exact
  BarrierLedger ledger;
  std::vector<BarrierLedger> cta_ledgers{};  // of RunResult::cta_ledgers
  std::uint8_t poison_twist = 0;  // XORed to the poison of this window; only explanations need it
};

/// Pulls every byte of the shared window from the source: which byte belongs here?
/// CUDA Driver API, cuTensorMapEncodeTiled; PTX ISA 9.0, 5.5 and 9.7.9.25.5.2.
Expectation predict(const TileLoad& load);

/// The window of each block by rank: the box for those in the mask, poison for the others. Throws
/// Error where refusal_of(multicast) says why, and for loads that have no prediction.
/// PTX ISA 9.0, 9.7.9.25.5.2: data and mbarrier signal go to the same offset in each destination.
Expectation predict(const MulticastLoad& multicast);

}  // namespace tidemark
