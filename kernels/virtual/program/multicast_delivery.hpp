// Who gets what of a load: the copies that one issue turns into, one a destination, and the faults
// of a multicast that change them.
#pragma once

#include <cstdint>
#include <vector>

#include "kernels/virtual/program/program_run.hpp"

namespace tidemark::kernels {

/// A load on its way to one destination. CTAs by rank in the cluster.
struct Leg {
  std::uint32_t to = 0;       // whose it is
  std::uint32_t told = 0;     // whose barrier is credited
  std::uint32_t written = 0;  // whose window is written
  std::uint32_t offset = 0;   // in the window, where the box begins
  std::uint32_t place = 0;    // among the destinations, and how many there are
  std::uint32_t places = 1;
  Fault geometry = kNoFault;  // what goes wrong on this leg where chunks are made,
  Fault delivery = kNoFault;  // and where they land
};

/// The legs of the load that `turn` takes, whose box the issuer would have at `offset`; by rank.
std::vector<Leg> legs_of(const Turn& turn, std::uint32_t offset);

/// Issues `copy` to the engine so that of each `leg.places` chunks only that of `leg.place` is
/// credited.
void issue_split(ProgramRun& run, const BulkCopy& copy, const Leg& leg);

}  // namespace tidemark::kernels
