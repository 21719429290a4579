// The loads and stores of a program's steps.
#pragma once

#include <cstdint>

#include "kernels/virtual/program/program_run.hpp"

namespace tidemark {

// The loads of a program.

/// Issues the load. Nothing of it lands yet.
void take_load(const Turn& turn);

// The steps of a program that store, and those that wait for it or look at it.

/// The verbs of their names; those with a trace return it. Nothing of a store moves before a step
/// waits, by whichever thread.
void take_store(const Turn& turn);
void take_commit(const Turn& turn);
std::uint64_t take_wait_group(const Turn& turn);
void take_wait_group_read(const Turn& turn);
void take_fill(const Turn& turn);
std::uint64_t take_look(const Turn& turn);

/// Lets all stores of all CTAs land.
void finish_stores(ProgramRun& run);

}  // namespace tidemark
