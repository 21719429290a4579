// Makes devices and transports, says what a build without CUDA or NCCL cannot make, and slows
// benchmarks.
#include "kernels/device.hpp"

#include <fmt/core.h>

#include <algorithm>
#include <cmath>

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

// The extra work of a slowed benchmark: from a share to whole units, or to a time.

std::uint32_t extra_units(std::uint32_t units, double slow) {
  if (!(slow > 0)) return 0;
  // None at all would be a benchmark that says that it was slowed, and was not.
  return std::max<std::uint32_t>(1, static_cast<std::uint32_t>(std::lround(slow * units)));
}

double slowed_factor(std::uint32_t units, double slow) {
  return 1 + static_cast<double>(extra_units(units, slow)) / units;
}

double extra_ns(std::vector<double> untouched_ns, double slow) {
  if (untouched_ns.empty())
    throw Error("no warm-ups: what a benchmark is to be slowed by is a share of their time");
  const auto middle = untouched_ns.begin() + static_cast<std::ptrdiff_t>(untouched_ns.size() / 2);
  std::nth_element(untouched_ns.begin(), middle, untouched_ns.end());
  return slow * *middle;
}

std::string slowed_note(std::uint32_t units, double slow, const std::string& what) {
  if (!(slow > 0)) return {};
  return fmt::format("; slowed on purpose: {} {} more than {}", extra_units(units, slow), what,
                     units);
}

}  // namespace tidemark
