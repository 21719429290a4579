// How much shared memory the windows of tile operations may take.
#pragma once

#include <cstdint>
#include <span>

namespace tidemark::kernels {

/// Allows each of `kernels` all the shared memory that a block can have on the current device, and
/// returns what is left for dynamic memory to the one that declares most itself. To be called once
/// before the first launch.
std::uint32_t allow_all_shared_memory(std::span<const void* const> kernels);

}  // namespace tidemark::kernels
