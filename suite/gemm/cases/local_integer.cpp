// One GPU multiplies small integers: a product with one right answer, whatever the tiles and the
// order of summation.
#include "suite/benchmark/gemm_metrics.hpp"
#include "suite/case.hpp"

namespace tidemark::suite {
namespace {

// One tile, less than a tile, several tiles, tails of every kind, rows that do not end on 16 bytes,
// and more blocks of 64 k than a ring has stages.
constexpr GemmShape kSmall[] = {{1, 1, 1},      {3, 5, 7},     {64, 64, 64},
                                {129, 257, 72}, {130, 66, 71}, {200, 136, 584}};
// Integers beyond 256 are rounded in bf16: only a long K makes many of them.
constexpr GemmShape kLong[] = {{24, 72, 4104}, {65, 33, 2047}};
constexpr GemmShape kCuda[] = {{1024, 1024, 1024}, {1000, 1016, 1032}, {2047, 1025, 1031}};
constexpr GemmShape kLarge = {8192, 8200, 8184};  // every core busy, many tiles for each
constexpr GemmShape kNightly[] = {
    {4096, 4096, 4096}, {1, 8192, 8192}, {8192, 1, 8191}, {256, 512, 65536}};

void add(std::vector<Op>& rows, const GemmShape& shape, GemmOutput output) {
  Gemm gemm = whole_product(shape, GemmInputs::small_integers);
  gemm.output = output;
  rows.emplace_back(gemm);
}

std::vector<Op> rows(const RunContext& context) {
  std::vector<Op> rows;
  const bool on_gpu = context.device == DeviceKind::cuda;
  for (const GemmOutput output : {GemmOutput::f32, GemmOutput::bf16}) {
    for (const GemmShape& shape : kSmall) add(rows, shape, output);
    for (const GemmShape& shape : kLong) add(rows, shape, output);
    if (!on_gpu) continue;
    for (const GemmShape& shape : kCuda) add(rows, shape, output);
    if (context.level == Level::quick) continue;
    for (const GemmShape& shape : kNightly) add(rows, shape, output);
  }
  if (!on_gpu) return rows;
  add(rows, kLarge, GemmOutput::f32);
  const std::uint64_t timed = usual_edge(context.device);
  add(rows, {timed, timed, timed}, GemmOutput::bf16);  // by the kernel that gemm.local.speed times
  return rows;
}

const Register kCase{{
    .name = "gemm.local.integer",
    .claim = "a product of integers from -3 to 3 is exact in every element, and nothing outside C "
             "is written",
    .cites = "PTX ISA 9.0, wgmma.mma_async: bf16 products are accumulated with at least single "
             "precision; IEEE 754-2019, 4.3: exact results are not rounded",
    .seconds = 8,
    .rows = rows,
}};

}  // namespace
}  // namespace tidemark::suite
