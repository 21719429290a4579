// Whether a product that a user gives fits, before anything is allocated.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "harness/room.hpp"
#include "suite/gemm/product.hpp"

namespace tidemark::harness {

/// What there is for one slot. 0 bytes: not known, and not checked.
struct SlotMemory {
  std::string machine, host;       // the first tells machines apart, the second names them
  std::uint64_t gpu_bytes = 0;     // all of it: nobody else may use the GPU
  std::uint64_t machine_free = 0;  // bytes, for all slots of the machine
};

/// Throws UsageError, the same on all ranks, where sizes are given and a rank has not enough memory
/// for its share, or a machine for what its ranks need on the host. Virtual devices live in the
/// memory of the host.
void check_product_memory(const ProductOptions& product, DeviceKind device,
                          const std::vector<SlotMemory>& slots);

}  // namespace tidemark::harness
