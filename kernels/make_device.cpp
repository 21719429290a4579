// Makes devices and transports, and says what a build without CUDA or NCCL cannot make.
#include "kernels/device.hpp"
#include "kernels/error.hpp"
#include "kernels/transport.hpp"
#include "kernels/virtual/virtual_device.hpp"
#ifdef TIDEMARK_WITH_CUDA
#include "kernels/cuda/cuda_device.hpp"
#endif

namespace tidemark {
namespace {

std::unique_ptr<Device> make_gpu_device() {
#ifdef TIDEMARK_WITH_CUDA
  return make_cuda_device();
#else
  throw Error(
      "this program was built without CUDA: configure with -DTIDEMARK_CUDA=ON where nvcc is found, "
      "or take --device virtual");
#endif
}

}  // namespace

std::unique_ptr<Device> make_device(DeviceKind kind, Fault fault) {
  if (kind == DeviceKind::virtual_device) return std::make_unique<VirtualDevice>(fault);
  if (fault != kNoFault)
    throw Error("a fault can be built into the virtual device only: take --device virtual");
  return make_gpu_device();
}

#ifndef TIDEMARK_WITH_CUDA
std::vector<GpuProperties> visible_gpus() { return {}; }
#endif

#ifndef TIDEMARK_WITH_NCCL
namespace {

[[noreturn]] void refuse_nccl(Where where = Where::here()) {
  throw Error(
      "this program was built without NCCL: install libnccl-dev (nccl.h) and configure again with "
      "-DTIDEMARK_CUDA=ON",
      where);
}

}  // namespace

NcclId make_nccl_id() { refuse_nccl(); }

GpuTransport make_gpu_transport(const NcclId& /*id*/, std::uint32_t /*rank*/,
                                std::uint32_t /*ranks*/, double /*seconds*/,
                                std::optional<PanelRoute> /*only*/) {
  refuse_nccl();
}
#endif

}  // namespace tidemark
