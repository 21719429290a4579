// What to make of the answer of the child that asks CUDA.
#pragma once

#include "harness/discovery/bounded_child.hpp"
#include "harness/discovery/gpu_inventory.hpp"

namespace tidemark {

/// The inventory of a machine that has a GPU, from what the child said or failed to say.
GpuInventory inventory_of(const ChildAnswer& answer);

}  // namespace tidemark
