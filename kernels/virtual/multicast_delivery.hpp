// Who gets what of a multicast: the copies that one issue turns into, one a destination, and the
// faults that change them.
#pragma once

#include <cstdint>
#include <vector>

#include "kernels/fault.hpp"
#include "kernels/ops/multicast_load.hpp"
#include "kernels/virtual/bulk_engine.hpp"
#include "kernels/virtual/tile_chunks.hpp"

namespace tidemark::kernels {

/// A block of the virtual cluster. What is on its way to it has an engine of its own: that a chunk
/// has arrived in one block says nothing about the others.
struct VirtualCta {
  SharedWindow shared;
  Mbarrier copied;   // steps 3 and 5 of MulticastLoad
  Mbarrier metered;  // step 6
  BulkEngine engine;
};

/// The barrier of each block that a copy is to complete on.
using BarrierOfCta = Mbarrier VirtualCta::*;

/// Everything that the blocks share.
struct VirtualCluster {
  MulticastLoad multicast;
  std::vector<std::uint8_t> source;
  std::vector<VirtualCta> blocks;  // by rank; copies in flight point into it
  Mbarrier nowhere;                // credit that nobody sees
  Fault fault = kNoFault;
};

/// The ranks that a multicast from `issuer` serves, ascending.
std::vector<std::uint32_t> destinations_of(const MulticastLoad& multicast, std::uint32_t issuer,
                                           Fault fault);

/// What the engine of the block of `rank` does wrong by itself, as the fault of a tile load where
/// `fault` says so of this block alone.
Fault engine_fault(const MulticastLoad& multicast, std::uint32_t rank, Fault fault);

/// Issues every slice to each of its destinations. `cluster` must stay where it is until all has
/// been delivered.
void issue_multicast(VirtualCluster& cluster, BarrierOfCta barrier);

}  // namespace tidemark::kernels
