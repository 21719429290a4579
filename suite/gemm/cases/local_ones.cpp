// One GPU multiplies ones: each element of C is K, whatever is left out of it shows how much.
#include "suite/case.hpp"

namespace tidemark::suite {
namespace {

// K around what one wgmma takes (16, of fp8 32), a stage of the ring (64, 128) and several of them;
// and so long that bf16 rounds it.
constexpr std::uint64_t kTails[] = {1,  15,  16,  17,  31,  33,  63, 64,
                                    65, 127, 128, 129, 191, 261, 515};
// Many tiles, few of them with a long K, which blocks share, and nothing round.
constexpr GemmShape kCuda[] = {
    {1024, 1024, 1024}, {520, 264, 8200}, {64, 136, 65536}, {2047, 1025, 1031}, {300, 5000, 97}};
constexpr GemmShape kNightly[] = {{4096, 4096, 4096}, {8192, 8200, 2047}};

std::vector<Op> rows(const RunContext& context) {
  std::vector<Op> rows;
  const auto add = [&](const GemmShape& shape, GemmElement element, GemmOutput output) {
    Gemm gemm = whole_product(shape, GemmInputs::ones);
    gemm.output = output;
    gemm.element = element;
    rows.emplace_back(gemm);
  };
  for (const GemmElement element :
       {GemmElement::bf16, GemmElement::f16, GemmElement::e4m3, GemmElement::e5m2}) {
    const GemmOutput half = element == GemmElement::bf16 ? GemmOutput::bf16 : GemmOutput::f16;
    for (const std::uint64_t k : kTails) add({20, 24, k}, element, GemmOutput::f32);
    add({9, 66, 1671}, element, half);
    if (context.device != DeviceKind::cuda) continue;
    for (const GemmShape& shape : kCuda) add(shape, element, GemmOutput::f32);
    if (context.level == Level::quick) continue;
    for (const GemmShape& shape : kNightly) add(shape, element, half);
  }
  return rows;
}

const Register kCase{{
    .name = "gemm.local.ones",
    .claim = "each element of a product of ones is K: no part of K is left out or summed up twice",
    .cites = "PTX ISA 9.0, wgmma.mma_async: products are accumulated with at least single "
             "precision; IEEE 754-2019, 4.3: exact results are not rounded",
    .seconds = 4,
    .rows = rows,
}};

}  // namespace
}  // namespace tidemark::suite
