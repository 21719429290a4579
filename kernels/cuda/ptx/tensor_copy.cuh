// Tensor copies whose rank is known at run time: one instruction for each rank, chosen by a branch.
#pragma once

#include <cuda.h>

#include <cstdint>
#include <cuda/ptx>

#include "kernels/ops/tensor_map.hpp"

namespace tidemark::kernels {

template <std::uint32_t kRank>
__device__ inline void load_box_of_rank(const CUtensorMap* map, const std::int32_t* at,
                                        std::uint8_t* to, std::uint64_t* barrier) {
  std::int32_t start[kRank];
  for (std::uint32_t i = 0; i < kRank; ++i) start[i] = at[i];
  cuda::ptx::cp_async_bulk_tensor(cuda::ptx::space_cluster, cuda::ptx::space_global, to, map, start,
                                  barrier);
}

template <std::uint32_t kRank>
__device__ inline void store_box_of_rank(const CUtensorMap* map, const std::int32_t* at,
                                         const std::uint8_t* from) {
  std::int32_t start[kRank];
  for (std::uint32_t i = 0; i < kRank; ++i) start[i] = at[i];
  cuda::ptx::cp_async_bulk_tensor(cuda::ptx::space_global, cuda::ptx::space_shared, map, start,
                                  from);
}

/// Issues the load of the box at `at` into shared memory, to complete on `barrier`.
/// PTX ISA 9.0, 9.7.9.25.5.2.
__device__ inline void load_box(std::uint32_t rank, const CUtensorMap* map, const std::int32_t* at,
                                std::uint8_t* to, std::uint64_t* barrier) {
  if (rank == 1) load_box_of_rank<1>(map, at, to, barrier);
  if (rank == 2) load_box_of_rank<2>(map, at, to, barrier);
  if (rank == 3) load_box_of_rank<3>(map, at, to, barrier);
  if (rank == 4) load_box_of_rank<4>(map, at, to, barrier);
  if (rank == 5) load_box_of_rank<5>(map, at, to, barrier);
}

/// Issues the store of a box of shared memory at `at`, as part of the thread's next bulk group.
/// PTX ISA 9.0, 9.7.9.25.5.2.
__device__ inline void store_box(std::uint32_t rank, const CUtensorMap* map, const std::int32_t* at,
                                 const std::uint8_t* from) {
  if (rank == 1) store_box_of_rank<1>(map, at, from);
  if (rank == 2) store_box_of_rank<2>(map, at, from);
  if (rank == 3) store_box_of_rank<3>(map, at, from);
  if (rank == 4) store_box_of_rank<4>(map, at, from);
  if (rank == 5) store_box_of_rank<5>(map, at, from);
}

}  // namespace tidemark::kernels
