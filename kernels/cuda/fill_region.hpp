// Fills global memory as the regions of programs are filled.
#pragma once

#include <cuda_runtime_api.h>

#include <cstdint>

#include "kernels/ops/program/program.hpp"

namespace tidemark {

/// Memory on the device, and what it is to hold; see Region.
struct RegionTask {
  std::uint8_t* memory = nullptr;
  std::uint64_t bytes = 0;  // a multiple of 16
  std::uint64_t first = 0;  // of these, as bytes of the region
  DataType element = DataType::u8;
  Numbers numbers = Numbers::hash;
  bool poison = false;
  Payload payload;
};

/// Fills one region.
void launch_fill_region(const RegionTask& task, cudaStream_t stream);

/// Fills `count` regions, whose tasks are device memory.
void launch_fill_regions(const RegionTask* tasks, std::uint32_t count, cudaStream_t stream);

}  // namespace tidemark
