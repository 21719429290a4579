// What a row must leave behind, byte by byte, and which tensor maps there can be.
#pragma once

#include <cstdint>
#include <span>
#include <string_view>
#include <vector>

#include "kernels/device.hpp"
#include "kernels/ops/barriers.hpp"
#include "kernels/ops/peer_tile.hpp"
#include "kernels/ops/tensor_map.hpp"

namespace tidemark {

/// How a byte of a destination is compared.
enum class Compare : std::uint8_t {
  exact,
  recorded,     // nobody promised it and nobody measured it: noted, never judged
  nan_element,  // the element that this byte belongs to must be a NaN; which one is not documented
};

struct Expectation {
  std::vector<std::uint8_t> bytes;         // of RunResult::bytes
  std::vector<Compare> compare;            // one a byte; empty: all exact
  std::vector<std::uint8_t> surroundings;  // of RunResult::surroundings, always exact
  std::uint8_t poison_twist = 0;  // XORed to the poison of this window; only explanations need it
};

/// Pulls every byte of the shared window from the source: which byte belongs here?
/// CUDA Driver API, cuTensorMapEncodeTiled; PTX ISA 9.0, 5.5 and 9.7.9.25.5.2.
Expectation predict(const TileLoad& load);

/// Global memory, of which only the islands may be there.
struct Memory {
  const std::vector<std::uint8_t>& bytes;
  std::span<const Island> islands{};

  Memory(const std::vector<std::uint8_t>& all,  // NOLINT: implicit, most memory is whole
         std::span<const Island> there = {})
      : bytes(all), islands(there) {}
  const std::uint8_t* at(std::uint64_t address) const {
    return &bytes.at(held_byte(islands, address));
  }
};

/// Throws Error where no document says what comes of the load: a guess would become a verdict.
void refuse_undocumented(const TileLoad& load);

/// Writes into `window` what the load leaves there of `source`, its whole allocation; bytes of NaN
/// elements are marked in `compare`, which is one a byte or empty. Throws Error as
/// refuse_undocumented() does.
void pull_tile(const TileLoad& load, const Memory& source, std::vector<std::uint8_t>& window,
               std::vector<Compare>& compare);

}  // namespace tidemark
