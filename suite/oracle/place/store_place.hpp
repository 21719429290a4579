// Where the bytes of a tile store go: used to predict and to explain.
#pragma once

#include <array>
#include <cstdint>
#include <vector>

#include "kernels/ops/program/program.hpp"
#include "suite/room.hpp"

namespace tidemark::suite {

/// A box that is stored from byte `offset` of a window on.
struct StoreBox {
  TensorMapSpec map;
  std::array<std::int32_t, kMaxRank> at{};
  std::uint32_t offset = 0;
};

/// 16 bytes that a box puts into its region.
struct StoredChunk {
  std::array<std::int64_t, kMaxRank> element{};  // of the first byte: tensor coordinates
  std::uint64_t address = 0;                     // in the region
  std::uint32_t window_offset = 0;
};

/// All of a box, in the order in which they stand in the window. A chunk whose first element is in
/// the tensor is written whole, which is more than the documents allow where rows end off 16 bytes:
/// measured on H200s, driver 580.159.04; first seen on an H100: github.com/triton-lang/triton,
/// issue 11583. CUDA Driver API, cuTensorMapEncodeTiled; PTX ISA 9.0, 5.5.3 and 5.5.7. Element
/// strides are those of loads the other way round, which only PTX ISA 5.5.3.2 says, without a
/// direction: measured on H200s, driver 580.159.04, in two processes.
std::vector<StoredChunk> stored_chunks(const StoreBox& box);

/// A byte of the region that a box is stored to.
struct StorePlace {
  std::array<std::int64_t, kMaxRank> element{};  // tensor coordinates; zeros in front of the tensor
  bool stored = false;                           // the box puts a byte there
  std::uint32_t window_offset = 0;               // of that byte in the shared window, if `stored`
};

/// The byte at `offset` of the region, in which the tensor starts behind kGuardBytes and
/// map.base_offset. For a person: it looks through all of the box.
StorePlace store_place(const StoreBox& box, std::uint64_t offset);

/// False where box and load certainly have no byte of their region in common: they lie in one
/// tensor without two elements at one address, and apart in one of its dimensions.
bool may_overlap(const TileLoad& load, const StoreBox& box);

}  // namespace tidemark::suite
