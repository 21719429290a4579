// One GPU multiplies with fewer SMs than it has: each then has more tiles to go through, and the
// answer is the same.
#include "suite/case.hpp"

namespace tidemark::suite {
namespace {

constexpr GemmShape kSmall[] = {{129, 257, 72}, {200, 264, 136}};
constexpr GemmShape kCuda[] = {{1024, 1024, 8192}, {2047, 1025, 511}, {2048, 3080, 1031}};

// The fewest that hold a cluster, half of an H100 or H200, and two that leave some for others; an
// odd one leaves half a cluster idle.
constexpr std::uint32_t kBudgets[] = {2, 66, 116, 131};

std::vector<Op> rows(const RunContext& context) {
  std::vector<Op> rows;
  const auto add = [&](const GemmShape& shape, std::uint32_t budget, GemmOutput output,
                       float beta) {
    Gemm gemm = whole_product(shape, GemmInputs::small_integers);
    gemm.output = output;
    gemm.sm_budget = budget;
    gemm.beta = beta;
    rows.emplace_back(gemm);
  };
  for (const std::uint32_t budget : kBudgets)
    for (const GemmOutput output : {GemmOutput::f32, GemmOutput::bf16}) {
      for (const GemmShape& shape : kSmall) {
        add(shape, budget, output, 0);
        add(shape, budget, output, 1);
      }
      if (context.device != DeviceKind::cuda) continue;
      for (const GemmShape& shape : kCuda) add(shape, budget, output, 0);
    }
  return rows;
}

const Register kCase{{
    .name = "gemm.local.budget",
    .claim = "the engine multiplies integers from -3 to 3 exactly on as few SMs as it is told to "
             "take, and writes nothing outside C",
    .cites = "PTX ISA 9.0, wgmma.mma_async: bf16 products are accumulated with at least single "
             "precision; IEEE 754-2019, 4.3: exact results are not rounded",
    .seconds = 2,
    .rows = rows,
}};

}  // namespace
}  // namespace tidemark::suite
