// Every kernel of the GEMM ladder multiplies small integers: a product with one right answer, so a
// rung that is faster because it does less shows at once.
#include "suite/case.hpp"

namespace tidemark::suite {
namespace {

// One element, one tile of each rung, one less and one more, rows of C that end off 16 bytes, and
// more steps of k than any ring has stages.
constexpr GemmShape kSmall[] = {{1, 1, 1},      {64, 64, 64},   {127, 255, 63}, {128, 256, 64},
                                {129, 257, 65}, {130, 66, 456}, {257, 8, 40}};
// Several tiles for each SM, an odd number of them along M, and both parities of a ring.
constexpr GemmShape kCuda[] = {
    {256, 512, 136}, {1000, 1016, 1032}, {4224, 2560, 192}, {2047, 1025, 1031}};
constexpr GemmShape kNightly[] = {{4096, 4096, 4096}, {4095, 4100, 4097}};

void add(std::vector<Op>& rows, const GemmShape& shape, GemmOutput output) {
  for (const GemmRung rung : kGemmRungs) {
    Gemm gemm = whole_product(shape, GemmInputs::small_integers);
    gemm.output = output;
    gemm.rung = rung;
    rows.emplace_back(gemm);
  }
}

std::vector<Op> rows(const RunContext& context) {
  std::vector<Op> rows;
  const bool on_gpu = context.device == DeviceKind::cuda;
  for (const GemmOutput output : {GemmOutput::f32, GemmOutput::bf16}) {
    for (const GemmShape& shape : kSmall) add(rows, shape, output);
    if (!on_gpu) continue;
    for (const GemmShape& shape : kCuda) add(rows, shape, output);
    if (context.level == Level::quick) continue;
    for (const GemmShape& shape : kNightly) add(rows, shape, output);
  }
  return rows;
}

const Register kCase{{
    .name = "gemm.local.ladder",
    .claim =
        "every kernel of the ladder multiplies integers from -3 to 3 exactly and writes nothing "
        "outside C",
    .cites = "PTX ISA 9.0, wgmma.mma_async: bf16 products are accumulated with at least single "
             "precision; IEEE 754-2019, 4.3: exact results are not rounded",
    .seconds = 8,
    .rows = rows,
}};

}  // namespace
}  // namespace tidemark::suite
