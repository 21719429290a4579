// What host and kernel of a tile store tell each other, and the launches.
#pragma once

#include <cuda.h>
#include <cuda_runtime_api.h>

#include <array>
#include <cstdint>

#include "kernels/ops/tile_store.hpp"

namespace tidemark::kernels {

/// Everything the kernel saw; it does not judge.
struct TileStoreLedger {
  std::uint32_t launch = 0;  // TileStoreLaunch::launch, written last: the kernel came to its end
  alignas(16) StoreLedger stored;
};

/// What one launch works on. The pointers are device memory.
struct TileStoreLaunch {
  std::uint32_t launch = 0;  // a number that no earlier launch had
  std::array<std::array<std::int32_t, kMaxRank>, kMaxStores> at{};     // by group
  std::array<std::array<std::uint64_t, kProbes>, kMaxStores> probe{};  // probe_offset()
  std::array<std::uint32_t, kMaxStores> behind{};                      // groups_behind()
  std::uint32_t stores = 0;
  std::uint32_t empty_groups = 0;
  bool bystander = false;
  StoreWait wait = StoreWait::complete;
  DataType type = DataType::u8;
  std::uint32_t first_tile = 0, tile_pitch = 0;  // bytes, in the window
  std::uint32_t tile_bytes = 0;
  std::uint32_t window_bytes = 0;
  std::uint32_t copies = 0;  // timed launches only
  Payload payload;
  TileStoreLedger* ledger = nullptr;
  std::uint8_t* window = nullptr;             // window_bytes, a multiple of 16; 16-byte aligned
  const std::uint8_t* destination = nullptr;  // the allocation that the tensor map points into
};

/// The largest window that fits the shared memory of a block on the current device. Prepares the
/// kernels for it: to be called once before the first launch.
std::uint32_t prepare_tile_store();

/// Step 1, the destination: poisons destination_allocation_bytes(store).
void launch_fill_destination(const TileStore& store, std::byte* destination, cudaStream_t stream);

/// Steps 1 (the window) to 6 of kernels/ops/tile_store.hpp.
void launch_tile_store(std::uint32_t rank, const CUtensorMap& map, const TileStoreLaunch& row,
                       cudaStream_t stream);

/// `row.copies` stores of the first box one after the other, each waited for; of the ledger only
/// `launch` is written.
void launch_timed_tile_store(std::uint32_t rank, const CUtensorMap& map, const TileStoreLaunch& row,
                             cudaStream_t stream);

}  // namespace tidemark::kernels
