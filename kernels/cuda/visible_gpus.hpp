// The GPUs that CUDA shows, by their UUIDs.
#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <string_view>

namespace tidemark {

/// "GPU-01234567-89ab-cdef-0123-456789abcdef" for the kind "GPU", as nvidia-smi -L prints it.
std::string uuid_text(std::string_view kind, const std::array<std::uint8_t, 16>& bytes);

}  // namespace tidemark
