// A few bytes of every rank for every rank, over whatever transport there is.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "kernels/transport.hpp"

namespace tidemark::kernels {

/// Gathers as many bytes of each rank as `mine` has, as panel `id`, which `name` says in words,
/// into `all`, in order of ranks. Every rank calls it with as many. Returns nothing then, or which
/// rank's did not come within `seconds`; the transport was aborted then. Throws Error where the
/// transport or the GPU fails.
std::string gather_rows(Transport& transport, std::uint32_t id, const char* name,
                        std::uint32_t rank, std::uint32_t ranks, const std::vector<std::byte>& mine,
                        double seconds, std::vector<std::byte>& all);

}  // namespace tidemark::kernels
