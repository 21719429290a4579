// Plain arithmetic: nothing is allocated and no device is asked.
#include "suite/gemm/product.hpp"

#include <algorithm>

#include "suite/gemm/grid.hpp"

namespace tidemark {
namespace {

constexpr double kMeasureSeconds = 30;
constexpr double kFewestSamples = 20;

/// Operations a second of one rank.
struct Speed {
  double usual = 0;      // of the engine
  double slow = 0;       // of the engine, throttled or on a busy host
  double reference = 0;  // of the reference engine, likewise
};

constexpr Speed speed_of(DeviceKind device) {
  return device == DeviceKind::cuda ? Speed{.usual = 500e12, .slow = 50e12, .reference = 1e12}
                                    : Speed{.usual = 1e9, .slow = 50e6, .reference = 50e6};
}

double operations_of(const GemmShape& shape, std::uint32_t ranks) {
  return 2.0 * static_cast<double>(shape.m) * static_cast<double>(shape.n) *
         static_cast<double>(shape.k) / ranks;
}

}  // namespace

ProductMemory memory_of(const ProductOptions& product, std::uint32_t rank, std::uint32_t ranks) {
  const GemmShape& shape = product.shape;
  const Gemm share =
      distributed_gemm({.m = shape.m, .n = shape.n, .k = shape.k, .output = GemmOutput::bf16}, rank,
                       ranks, nullptr, product.grid);
  const auto panel = [&](GemmOperand operand) {
    const OperandLayout layout = layout_of(share, operand);
    return layout.rows * layout.pitch * element_bytes(share.element);
  };
  const auto c = [&](GemmOutput output) {
    return share.rows.count * c_row_pitch(share.cols.count, output);
  };
  return {.device = panel(GemmOperand::a) + panel(GemmOperand::b) + c(GemmOutput::f32),
          .host = c(GemmOutput::bf16) + c(GemmOutput::f32)};
}

Timing timing_of(const GemmShape& shape, std::uint32_t ranks, DeviceKind device) {
  const Timing usual;
  const double seconds = operations_of(shape, ranks) / speed_of(device).usual;
  const double runs = usual.samples + usual.warmups;
  if (runs * seconds <= kMeasureSeconds) return usual;
  const double samples =
      std::max(kFewestSamples, usual.samples * kMeasureSeconds / (runs * seconds));
  return {.warmups = static_cast<std::uint32_t>(samples / 5),
          .samples = static_cast<std::uint32_t>(samples)};
}

double patience_s(const GemmShape& shape, std::uint32_t ranks, DeviceKind device) {
  const Speed speed = speed_of(device);
  const Timing timing = timing_of(shape, ranks, device);
  const double operations = operations_of(shape, ranks);
  return operations * (timing.warmups + timing.samples) / speed.slow + operations / speed.reference;
}

}  // namespace tidemark
