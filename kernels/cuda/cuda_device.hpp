// The real device. Free of CUDA headers, so that anybody may include it.
#pragma once

#include <memory>

#include "kernels/device.hpp"

namespace tidemark {

/// The first visible GPU. Throws Error where there is none, where it is no Hopper (compute
/// capability 9.0: the kernels are built for sm_90a alone), or where CUDA cannot use it.
std::unique_ptr<Device> make_cuda_device();

}  // namespace tidemark
