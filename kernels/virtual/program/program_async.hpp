// What lands in the window of another CTA without being a plain copy.
#pragma once

#include <functional>

#include "kernels/virtual/program/program_run.hpp"

namespace tidemark::kernels {

/// st_async and red_async.
void take_async(const Turn& turn);

/// The chunks of `copy`, each reduced into what `window` holds where it lands, when it does.
std::function<Chunk(std::uint32_t)> reducing(const Turn& turn, const SharedWindow& window,
                                             std::function<Chunk(std::uint32_t)> copy);

}  // namespace tidemark::kernels
