// What a row must leave behind, byte by byte.
#pragma once

#include <cstdint>
#include <vector>

#include "kernels/device.hpp"

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
};

/// Pulls every byte of the shared window from the source: which byte belongs here?
/// CUDA Driver API, cuTensorMapEncodeTiled; PTX ISA 9.0, 5.5 and 9.7.9.25.5.2.
Expectation predict(const TileLoad& load);

/// The product of the two tiles as integer matrices, whatever the descriptors say: where they do
/// not read what TMA wrote (reads_as_written), it is what must not come out.
/// PTX ISA 9.0, 9.7.15.5.1.2 and 9.7.15.5.2; 5.5.3 for what lies outside a tensor.
Expectation predict(const TileConsume& op);

}  // namespace tidemark
