// Barriers of a program on the virtual device, and what multicasts deliver to them.
#pragma once

#include <cstdint>
#include <vector>

#include "kernels/virtual/program/program_run.hpp"

namespace tidemark {

// The steps of a program that an mbarrier takes, and those of its memory. What is undefined on a
// GPU is an error of the program and thrown; a device with a fault may come to it and goes on.

/// The barrier that the step names, in its own CTA. Throws Error where it is not initialized.
Mbarrier& live_barrier(const Turn& turn);
/// The same barrier of CTA `cta`.
Mbarrier& live_barrier(const Turn& turn, std::uint32_t cta);

/// The verbs of their names; those with a trace return it. take_expect: expect_tx and
/// arrive_expect_tx. Steps that let time pass deliver copies in flight.
void take_init(const Turn& turn);
void take_inval(const Turn& turn);
void take_arrive(const Turn& turn);
void take_expect(const Turn& turn);
void take_complete_tx(const Turn& turn);
std::uint64_t take_test(const Turn& turn);
std::uint64_t take_wait(const Turn& turn);
/// Whether the phase that a wait is for is not complete.
bool has_to_wait(const Turn& turn);
std::uint64_t take_meter(const Turn& turn);
void take_write(const Turn& turn);
std::uint64_t take_read(const Turn& turn);

// Who gets what of a load: the copies that one issue turns into, one a destination, and the faults
// of a multicast that change them.

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

}  // namespace tidemark
