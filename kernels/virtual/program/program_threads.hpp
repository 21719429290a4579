// What the threads of a program do themselves, at once and asynchronously.
#pragma once

#include <functional>

#include "kernels/virtual/program/program_run.hpp"

namespace tidemark {

// Steps that the threads of a CTA take on tiles by ordinary accesses.

void take_add(const Turn& turn);
void take_copy(const Turn& turn);

// What lands in the window of another CTA without being a plain copy.

/// st_async and red_async.
void take_async(const Turn& turn);

/// The chunks of `copy`, each reduced into what `window` holds where it lands, when it does.
std::function<Chunk(std::uint32_t)> reducing(const Turn& turn, const SharedWindow& window,
                                             std::function<Chunk(std::uint32_t)> copy);

}  // namespace tidemark
