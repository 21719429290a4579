// One GPU sums up fp8 products that are all positive: integers of up to 18 bits, which the 14 bits
// that the tensor cores keep cannot hold. They are exact where sums are promoted to fp32 in time.
#include "suite/benchmark/gemm_metrics.hpp"
#include "suite/case.hpp"

namespace tidemark::suite {
namespace {

// Digits from 0 to 7: about 12 a product. Whole stages of 128 k, and a tail.
constexpr GemmShape kSmall[] = {{20, 24, 2048}, {9, 66, 1671}};
constexpr GemmShape kCuda[] = {{256, 128, 8192}, {129, 265, 4103}, {64, 72, 16384}};
constexpr GemmShape kNightly = {1024, 1032, 8192};

std::vector<Op> rows(const RunContext& context) {
  std::vector<Op> rows;
  const auto add = [&](const GemmShape& shape, GemmElement element, GemmOutput output) {
    Gemm gemm = whole_product(shape, GemmInputs::octal_digits);
    gemm.output = output;
    gemm.element = element;
    rows.emplace_back(gemm);
  };
  for (const GemmElement element : {GemmElement::e4m3, GemmElement::e5m2}) {
    for (const GemmShape& shape : kSmall) {
      add(shape, element, GemmOutput::f32);
      add(shape, element, GemmOutput::f16);
    }
    if (context.device != DeviceKind::cuda) continue;
    for (const GemmShape& shape : kCuda) {
      add(shape, element, GemmOutput::f32);
      add(shape, element, GemmOutput::bf16);
    }
    if (context.level == Level::quick) continue;
    add(kNightly, element, GemmOutput::f32);
  }
  if (context.device == DeviceKind::cuda && context.level == Level::quick) return rows;
  const std::uint64_t timed = usual_edge(context.device);  // by the kernel that the benchmark times
  add({timed, timed, timed}, GemmElement::e4m3, GemmOutput::bf16);
  return rows;
}

const Register kCase{{
    .name = "gemm.local.fp8_sums",
    .claim =
        "sums of fp8 products that need more bits than the tensor cores keep of them are exact: "
        "every 128 k they are promoted to fp32",
    .cites = "PTX ISA 9.0, wgmma.mma_async: .e4m3 and .e5m2 products with .f32 accumulators; "
             "DeepSeek-V3 Technical Report, 3.3.2: about 14 bits are kept; IEEE "
             "754-2019, 4.3: exact results are not rounded",
    .seconds = 6,
    .rows = rows,
}};

}  // namespace
}  // namespace tidemark::suite
