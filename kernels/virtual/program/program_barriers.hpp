// The steps of a program that an mbarrier takes, and those of its memory. What is undefined on a
// GPU is an error of the program and thrown; a device with a fault may come to it and goes on.
#pragma once

#include <cstdint>

#include "kernels/virtual/program/program_run.hpp"

namespace tidemark::kernels {

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

}  // namespace tidemark::kernels
