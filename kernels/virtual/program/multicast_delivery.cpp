// Turns a mask into copies.
#include "kernels/virtual/program/multicast_delivery.hpp"

#include <bit>

#include "kernels/virtual/copies/faults/multicast_load_faults.hpp"
#include "kernels/virtual/copies/faults/tile_load_faults.hpp"

namespace tidemark::kernels {
namespace {

// The bit of the mask that decides about the CTA of `rank`.
std::uint32_t bit_of(const Turn& turn, std::uint32_t rank) {
  const Fault fault = turn.run.fault;
  const auto& [nx, ny, nz] = turn.run.program.cluster;
  const std::uint32_t size = nx * ny * nz;
  const std::uint32_t x = rank % nx, y = rank / nx % ny, z = rank / nx / ny;
  if (fault == kFaultMulticastMaskReversed) return size - 1 - rank;
  if (fault == kFaultMulticastMaskByX) return x;
  if (fault == kFaultMulticastMaskZFastest) return z + nz * (y + ny * x);
  if (fault == kFaultMulticastMaskFromIssuer) return (rank + size - turn.cta) % size;
  return rank;
}

std::uint32_t highest_of(std::uint32_t mask) {
  return static_cast<std::uint32_t>(std::bit_width(mask)) - 1;
}

// The mask as the engine understands it.
std::uint32_t mask_of(const Turn& turn) {
  const Fault fault = turn.run.fault;
  std::uint32_t mask = turn.step().mask;
  const std::uint32_t highest = highest_of(mask);
  if (fault == kFaultMulticastOtherCluster && turn.run.beside) return 0;
  if (fault == kFaultMulticastHighestMissed) mask &= ~(1U << highest);
  if (fault == kFaultMulticastLowestMissed) mask &= mask - 1;
  if (fault == kFaultMulticastIssuerServed) mask |= 1U << turn.cta;
  if (fault == kFaultMulticastNextServed) mask |= 2U << highest;
  if (fault == kFaultMulticastIssuerOnly) mask = 1U << turn.cta;
  if (fault == kFaultMulticastMaskFourBits) mask &= 0xfU;
  return mask;
}

bool is_multicast(const Turn& turn, std::size_t number) {
  const auto& steps = turn.run.program.steps;
  return number < steps.size() && steps[number].verb == Verb::load && steps[number].mask != 0;
}

// How many multicasts follow each other up to this one, which is not counted.
std::size_t multicasts_before(const Turn& turn) {
  std::size_t before = 0;
  while (before < turn.number && is_multicast(turn, turn.number - before - 1)) ++before;
  return before;
}

// Where the box of this multicast lands, which may be another one's place.
std::uint32_t place_taken(const Turn& turn, std::uint32_t offset) {
  const std::size_t before = multicasts_before(turn);
  const auto place_of = [&](std::size_t number) { return turn.run.program.steps[number].offset; };
  if (turn.run.fault == kFaultMulticastSlicesPiledUp) return place_of(turn.number - before);
  if (turn.run.fault != kFaultMulticastSlicesExchanged) return offset;
  if (before == 1) return place_of(turn.number - 1);
  return before == 0 && is_multicast(turn, turn.number + 1) ? place_of(turn.number + 1) : offset;
}

Fault geometry_fault(const Turn& turn, std::uint32_t rank) {
  const Fault fault = turn.run.fault;
  if (rank != turn.cta && fault == kFaultMulticastFillAtIssuerOnly) return kFaultFillSkipped;
  if (rank != turn.cta && fault == kFaultMulticastSwizzleAtIssuerOnly) return kFaultSwizzleIgnored;
  return fault;
}

// What goes wrong with the delivery to the CTA of `rank` alone, as the fault of a plain load.
Fault delivery_fault(const Turn& turn, std::uint32_t rank) {
  const Fault fault = turn.run.fault;
  const std::uint32_t mask = turn.step().mask;
  const bool lowest = (mask & ((1U << rank) - 1)) == 0, highest = mask >> (rank + 1) == 0;
  if (fault == kFaultMulticastCreditShort && highest) return kFaultCreditShort;
  if (fault == kFaultMulticastCreditInsideOnly && highest) return kFaultCreditInsideOnly;
  if (fault == kFaultMulticastChunkDropped && highest) return kFaultChunkDropped;
  if (fault == kFaultMulticastLastChunkLate && highest) return kFaultCreditBeforeLastChunk;
  if (fault == kFaultMulticastCreditTwice && lowest) return kFaultCreditTwice;
  if (fault == kFaultMulticastChunksExchanged && lowest) return kFaultChunksExchanged;
  return fault;
}

Leg make_leg(const Turn& turn, std::uint32_t rank, std::uint32_t place, std::uint32_t places) {
  const Fault fault = turn.run.fault;
  const std::uint32_t next = (rank + 1) % ctas_of(turn.run.program);
  const bool lowest = place == 0;
  Leg leg{.to = rank,
          .told = rank,
          .written = rank,
          .offset = place_taken(turn, turn.step().offset),
          .place = place,
          .places = places,
          .geometry = geometry_fault(turn, rank),
          .delivery = delivery_fault(turn, rank)};
  if (fault == kFaultMulticastCreditToIssuer) leg.told = turn.cta;
  if (fault == kFaultMulticastCreditToNext && lowest) leg.told = next;
  if (fault == kFaultMulticastWrongWindow && lowest) leg.written = next;
  if (fault == kFaultMulticastShifted && place + 1 == places) leg.offset += kChunkBytes;
  return leg;
}

}  // namespace

std::vector<Leg> legs_of(const Turn& turn, std::uint32_t offset) {
  const Fault fault = turn.run.fault;
  if (turn.step().mask == 0)
    return {{.to = turn.cta,
             .told = turn.cta,
             .written = turn.cta,
             .offset = offset,
             .geometry = fault,
             .delivery = fault}};
  const std::uint32_t mask = mask_of(turn);
  std::vector<std::uint32_t> ranks;
  for (std::uint32_t rank = 0; rank < ctas_of(turn.run.program); ++rank)
    if ((mask >> bit_of(turn, rank) & 1U) != 0) ranks.push_back(rank);
  const auto places = static_cast<std::uint32_t>(ranks.size());
  const bool last_of_several = multicasts_before(turn) > 0 && !is_multicast(turn, turn.number + 1);
  std::vector<Leg> legs;
  for (std::uint32_t place = 0; place < places; ++place) {
    const bool missed = fault == kFaultMulticastLastSliceMissed && last_of_several;
    if (missed && place + 1 == places) continue;
    legs.push_back(make_leg(turn, ranks[place], place, places));
  }
  return legs;
}

void issue_split(ProgramRun& run, const BulkCopy& copy, const Leg& leg) {
  const std::uint32_t place = leg.place, places = leg.places;
  BulkCopy credited = copy;
  credited.chunks = (copy.chunks + places - 1 - place) / places;
  credited.chunk = [=](std::uint32_t index) { return copy.chunk(index * places + place); };
  BulkCopy silent = copy;
  silent.chunks = copy.chunks - credited.chunks;
  silent.barrier = &run.nowhere;
  silent.chunk = [=](std::uint32_t index) {
    const std::uint32_t other = index % (places - 1);
    return copy.chunk(index / (places - 1) * places + other + (other >= place ? 1 : 0));
  };
  run.engine.issue(credited);
  run.engine.issue(silent);
}

}  // namespace tidemark::kernels
