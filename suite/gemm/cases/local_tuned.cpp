// One GPU multiplies small integers with the engine's configuration for each size: whatever tile,
// cluster or split of K the table names, there is one right answer.
#include "suite/case.hpp"

namespace tidemark::suite {
namespace {

constexpr GemmShape kSmall[] = {{1, 1, 1}, {64, 128, 64}, {129, 257, 72}, {40, 72, 1031}};
// Near the table's entries: few tiles, many, a long and a short K.
constexpr GemmShape kCuda[] = {
    {512, 512, 512}, {1024, 1024, 1024}, {1000, 1016, 2040}, {520, 264, 8200}, {2047, 1025, 511}};
constexpr GemmShape kNightly[] = {{4096, 4096, 4096}, {8192, 4104, 1031}};

std::vector<Op> rows(const RunContext& context) {
  std::vector<Op> rows;
  const auto add = [&](const GemmShape& shape, GemmOutput output) {
    Gemm gemm = whole_product(shape, GemmInputs::small_integers);
    gemm.output = output;
    rows.emplace_back(gemm);
  };
  for (const GemmOutput output : {GemmOutput::f32, GemmOutput::bf16}) {
    for (const GemmShape& shape : kSmall) add(shape, output);
    if (context.device != DeviceKind::cuda) continue;
    for (const GemmShape& shape : kCuda) add(shape, output);
    if (context.level == Level::quick) continue;
    for (const GemmShape& shape : kNightly) add(shape, output);
  }
  return rows;
}

const Register kCase{{
    .name = "gemm.local.tuned",
    .claim = "the configuration that the engine takes for a size multiplies integers from -3 to 3 "
             "exactly and writes nothing outside C",
    .cites = "PTX ISA 9.0, wgmma.mma_async: bf16 products are accumulated with at least single "
             "precision; IEEE 754-2019, 4.3: exact results are not rounded",
    .seconds = 4,
    .rows = rows,
}};

}  // namespace
}  // namespace tidemark::suite
