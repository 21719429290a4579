// Which byte of the shared window belongs at a place of the destination of a tile store: the
// pull-style half of its oracle, used to predict and to explain.
#pragma once

#include <array>
#include <cstdint>

#include "kernels/ops/program/program.hpp"
#include "suite/room.hpp"

namespace tidemark::suite {

/// A box that is stored from byte `offset` of a window on.
struct StoreBox {
  TensorMapSpec map;
  std::array<std::int32_t, kMaxRank> at{};
  std::uint32_t offset = 0;
};

/// A byte of the region that a box is stored to.
struct StorePlace {
  std::array<std::int64_t, kMaxRank> element{};  // tensor coordinates; zeros in front of the tensor
  bool stored = false;                           // the box puts a byte there
  std::uint32_t window_offset = 0;               // of that byte in the shared window, if `stored`
};

/// Bytes of a row of the tensor that stores may write: to the end of the 16 bytes that hold the
/// last element, which is more than the documents allow where rows end off 16 bytes. Measured on
/// H200s, driver 580.159.04; first seen on an H100: github.com/triton-lang/triton, issue 11583.
std::int64_t stored_row_bytes(const TensorMapSpec& map);

/// The byte at `offset` of the region, in which the tensor starts behind kGuardBytes and
/// map.base_offset; its strides must nest. CUDA Driver API,
/// cuTensorMapEncodeTiled; PTX ISA 9.0, 5.5.3 and 5.5.7. Element strides are those of loads the
/// other way round, which only PTX ISA 5.5.3.2 says, without a direction: measured on H200s, driver
/// 580.159.04, in two processes.
StorePlace store_place(const StoreBox& box, std::uint64_t offset);

/// The chunks of 16 bytes that hold all that the box puts into the region: from the first to behind
/// the last, as offsets.
struct StoreRange {
  std::uint64_t begin = 0, end = 0;
};
StoreRange store_range(const StoreBox& box);

/// False where box and load certainly have no byte of their region in common: they lie in one
/// tensor, and apart in one of its dimensions.
bool may_overlap(const TileLoad& load, const StoreBox& box);

}  // namespace tidemark::suite
