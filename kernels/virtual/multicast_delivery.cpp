// Turns a mask into copies, one a slice and destination.
#include "kernels/virtual/multicast_delivery.hpp"

#include <cstring>
#include <functional>

#include "kernels/virtual/multicast_load_faults.hpp"
#include "kernels/virtual/tile_load_faults.hpp"
#include "kernels/virtual/tile_memory.hpp"

namespace tidemark::kernels {
namespace {

// The bit of the mask that decides about the block of `rank`.
std::uint32_t bit_of(const MulticastLoad& multicast, std::uint32_t rank, std::uint32_t issuer,
                     Fault fault) {
  const auto& [nx, ny, nz] = multicast.cluster;
  const std::uint32_t size = nx * ny * nz;
  const std::uint32_t x = rank % nx, y = rank / nx % ny, z = rank / nx / ny;
  if (fault == kFaultMulticastMaskReversed) return size - 1 - rank;
  if (fault == kFaultMulticastMaskByX) return x;
  if (fault == kFaultMulticastMaskZFastest) return z + nz * (y + ny * x);
  if (fault == kFaultMulticastMaskFromIssuer) return (rank + size - issuer) % size;
  return rank;
}

// The mask as the engine understands it.
std::uint32_t mask_of(const MulticastLoad& multicast, std::uint32_t issuer, Fault fault) {
  std::uint32_t mask = multicast.mask;
  std::uint32_t highest = kClusterMax - 1;
  while ((mask >> highest & 1U) == 0) --highest;
  if (fault == kFaultMulticastHighestMissed) mask &= ~(1U << highest);
  if (fault == kFaultMulticastLowestMissed) mask &= mask - 1;
  if (fault == kFaultMulticastIssuerServed) mask |= 1U << issuer;
  if (fault == kFaultMulticastNextServed) mask |= 2U << highest;
  if (fault == kFaultMulticastIssuerOnly) mask = 1U << issuer;
  if (fault == kFaultMulticastMaskFourBits) mask &= 0xfU;
  return mask;
}

// One slice on its way to one destination.
struct Leg {
  std::uint32_t slice = 0;
  std::uint32_t issuer = 0;
  std::uint32_t to = 0;     // rank
  std::uint32_t place = 0;  // among the destinations of this slice
  std::uint32_t places = 1;
  bool lowest() const { return place == 0; }
  bool highest() const { return place + 1 == places; }
};

Fault geometry_fault(const VirtualCluster& cluster, const Leg& leg) {
  if (leg.to == leg.issuer) return cluster.fault;
  if (cluster.fault == kFaultMulticastFillAtIssuerOnly) return kFaultFillSkipped;
  if (cluster.fault == kFaultMulticastSwizzleAtIssuerOnly) return kFaultSwizzleIgnored;
  return cluster.fault;
}

// The slice whose place in the window this one takes.
std::uint32_t place_taken(const MulticastLoad& multicast, std::uint32_t slice, Fault fault) {
  if (fault == kFaultMulticastSlicesPiledUp) return 0;
  if (fault == kFaultMulticastSlicesExchanged && multicast.slices > 1 && slice < 2)
    return 1 - slice;
  return slice;
}

TileGeometry geometry_of(const VirtualCluster& cluster, const Leg& leg) {
  const std::uint32_t place = place_taken(cluster.multicast, leg.slice, cluster.fault);
  const std::int64_t destination =
      kWindowAddress + kGuardBytes + slice_of(cluster.multicast, place).destination_offset;
  return tile_geometry(slice_of(cluster.multicast, leg.slice), destination,
                       geometry_fault(cluster, leg));
}

std::function<Chunk(std::uint32_t)> reader_of(VirtualCluster& cluster, const Leg& leg) {
  const std::int64_t shift =
      cluster.fault == kFaultMulticastShifted && leg.highest() ? kChunkBytes : 0;
  return [&cluster, shift, tile = geometry_of(cluster, leg)](std::uint32_t index) {
    Chunk chunk = tile_chunk(tile, cluster.source, index);
    chunk.address += shift;
    if (cluster.fault == kFaultSourceOverwritten && index == 0)
      std::memcpy(&cluster.source[kGuardBytes - kChunkBytes], chunk.bytes.data(), kChunkBytes);
    return chunk;
  };
}

// Issues `copy` so that of each `places` chunks only that of `place` is credited.
void issue_split(BulkEngine& engine, const BulkCopy& copy, const Leg& leg, Mbarrier& nowhere) {
  const std::uint32_t place = leg.place, places = leg.places;
  BulkCopy credited = copy;
  credited.chunks = (copy.chunks + places - 1 - place) / places;
  credited.chunk = [=](std::uint32_t index) { return copy.chunk(index * places + place); };
  BulkCopy silent = copy;
  silent.chunks = copy.chunks - credited.chunks;
  silent.barrier = &nowhere;
  silent.chunk = [=](std::uint32_t index) {
    const std::uint32_t other = index % (places - 1);
    return copy.chunk(index / (places - 1) * places + other + (other >= place ? 1 : 0));
  };
  engine.issue(credited);
  engine.issue(silent);
}

void issue_leg(VirtualCluster& cluster, const Leg& leg, BarrierOfCta barrier) {
  const auto size = static_cast<std::uint32_t>(cluster.blocks.size());
  const std::uint32_t next = (leg.to + 1) % size;
  std::uint32_t told = leg.to, written = leg.to;
  if (cluster.fault == kFaultMulticastCreditToIssuer) told = leg.issuer;
  if (cluster.fault == kFaultMulticastCreditToNext && leg.lowest()) told = next;
  if (cluster.fault == kFaultMulticastWrongWindow && leg.lowest()) written = next;
  const TileGeometry tile = geometry_of(cluster, leg);
  BulkEngine& engine = cluster.blocks[leg.to].engine;
  const BulkCopy copy{.chunks = chunk_count(tile),
                      .chunk = reader_of(cluster, leg),
                      .destination = tile.destination,
                      .shared = &cluster.blocks[written].shared,
                      .barrier = &(cluster.blocks[told].*barrier)};
  if (cluster.fault == kFaultMulticastCreditSplit)
    issue_split(engine, copy, leg, cluster.nowhere);
  else
    engine.issue(copy);
}

}  // namespace

std::vector<std::uint32_t> destinations_of(const MulticastLoad& multicast, std::uint32_t issuer,
                                           Fault fault) {
  const std::uint32_t mask = mask_of(multicast, issuer, fault);
  std::vector<std::uint32_t> ranks;
  for (std::uint32_t rank = 0; rank < cluster_size(multicast); ++rank)
    if ((mask >> bit_of(multicast, rank, issuer, fault) & 1U) != 0) ranks.push_back(rank);
  return ranks;
}

Fault engine_fault(const MulticastLoad& multicast, std::uint32_t rank, Fault fault) {
  const bool lowest = (multicast.mask & ((1U << rank) - 1)) == 0;
  const bool highest = multicast.mask >> (rank + 1) == 0;
  if (fault == kFaultMulticastCreditShort && highest) return kFaultCreditShort;
  if (fault == kFaultMulticastCreditInsideOnly && highest) return kFaultCreditInsideOnly;
  if (fault == kFaultMulticastChunkDropped && highest) return kFaultChunkDropped;
  if (fault == kFaultMulticastLastChunkLate && highest) return kFaultCreditBeforeLastChunk;
  if (fault == kFaultMulticastCreditTwice && lowest) return kFaultCreditTwice;
  if (fault == kFaultMulticastChunksExchanged && lowest) return kFaultChunksExchanged;
  return fault;
}

void issue_multicast(VirtualCluster& cluster, BarrierOfCta barrier) {
  const MulticastLoad& multicast = cluster.multicast;
  for (std::uint32_t slice = 0; slice < multicast.slices; ++slice) {
    const std::uint32_t issuer = (multicast.issuer + slice) % cluster_size(multicast);
    const auto destinations = destinations_of(multicast, issuer, cluster.fault);
    Leg leg{.slice = slice,
            .issuer = issuer,
            .places = static_cast<std::uint32_t>(destinations.size())};
    for (leg.place = 0; leg.place < leg.places; ++leg.place) {
      leg.to = destinations[leg.place];
      const bool last_slice = slice > 0 && slice + 1 == multicast.slices;
      if (cluster.fault == kFaultMulticastLastSliceMissed && last_slice && leg.highest()) continue;
      issue_leg(cluster, leg, barrier);
    }
  }
}

}  // namespace tidemark::kernels
