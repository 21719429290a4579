// Adds up what the slots need, and compares.
#include "harness/supervisor/opening.hpp"

#include <cmath>
#include <map>

#include <fmt/format.h>

#include "harness/base/errors.hpp"
#include "harness/command_line/option_values.hpp"

namespace tidemark {
namespace {

constexpr std::uint64_t kGiB = std::uint64_t{1} << 30;
constexpr std::uint64_t kContext = 2 * kGiB;  // of a GPU: CUDA's context, modules, buffers of NCCL

/// Tenths of a GiB, so that what does not fit never looks as if it did.
std::string rounded_up(std::uint64_t bytes) {
  return fmt::format("{:.1f} GiB", std::ceil(10.0 * static_cast<double>(bytes) / kGiB) / 10);
}
std::string rounded_down(std::uint64_t bytes) {
  return fmt::format("{:.1f} GiB", std::floor(10.0 * static_cast<double>(bytes) / kGiB) / 10);
}

struct Machine {
  std::string host;
  std::uint64_t needed = 0, free = 0;
};

}  // namespace

void check_product_memory(const ProductOptions& product, DeviceKind device,
                          const std::vector<SlotMemory>& slots) {
  if (!product.has_shape()) return;
  const std::string what = shape_text(product.shape);
  const bool is_virtual = device == DeviceKind::virtual_device;
  const auto ranks = static_cast<std::uint32_t>(slots.size());
  std::map<std::string, Machine> machines;
  for (std::uint32_t slot = 0; slot < ranks; ++slot) {
    const SlotMemory& has = slots[slot];
    const ProductMemory needs = memory_of(product, slot, ranks);
    if (!is_virtual && has.gpu_bytes != 0 && needs.device + kContext > has.gpu_bytes)
      throw UsageError(
          fmt::format("{}: {} per GPU, {} of it for CUDA and NCCL, but GPU {} has {}; give a "
                      "smaller product or more ranks",
                      what, rounded_up(needs.device + kContext), rounded_up(kContext), slot,
                      rounded_down(has.gpu_bytes)));
    Machine& machine = machines[has.machine];
    machine.host = has.host;
    machine.free = has.machine_free;
    machine.needed += needs.host + (is_virtual ? needs.device : 0);
  }
  for (const auto& [name, machine] : machines) {
    if (machine.free == 0 || machine.needed <= machine.free) continue;
    throw UsageError(fmt::format(
        "{}: {} of host memory, but {} has {} free; give a smaller product or more machines", what,
        rounded_up(machine.needed), machine.host, rounded_down(machine.free)));
  }
}

}  // namespace tidemark
