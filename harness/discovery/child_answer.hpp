// What to make of the answers of the children that ask CUDA and NVML.
#pragma once

#include "harness/discovery/bounded_child.hpp"
#include "harness/discovery/gpu_inventory.hpp"

namespace tidemark::harness {

/// The inventory of a machine that has a GPU, from what the child said or failed to say.
GpuInventory inventory_of(const ChildAnswer& answer);

/// The inventory with one answer for each visible GPU. A GPU that is cut into slices is called
/// "MIG-..." from here on.
GpuInventory with_nvml(GpuInventory inventory, std::vector<NvmlAnswer> answers);

}  // namespace tidemark::harness
