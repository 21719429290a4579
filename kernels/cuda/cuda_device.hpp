// The real device, and the UUIDs of the GPUs that CUDA shows. Free of CUDA headers, so that anybody
// may include it.
#pragma once

#include <array>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>

#include "kernels/device.hpp"

namespace tidemark {

/// The first visible GPU. Throws Error where there is none, where it is no Hopper (compute
/// capability 9.0: the kernels are of sm_90a alone), or where CUDA cannot use it.
std::unique_ptr<Device> make_cuda_device();

/// "GPU-01234567-89ab-cdef-0123-456789abcdef" for the kind "GPU", as nvidia-smi -L prints it.
std::string uuid_text(std::string_view kind, const std::array<std::uint8_t, 16>& bytes);

}  // namespace tidemark
