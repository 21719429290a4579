// All GPUs multiply the same normal numbers, each on its own, and compare the bits: a GPU that is
// now and then a little wrong, within every bound that a check of its own could have, is the one
// that differs.
#include "suite/case.hpp"
#include "suite/gemm/grid.hpp"

namespace tidemark::suite {
namespace {

constexpr GemmShape kSmall = {300, 520, 264};
constexpr GemmShape kCuda[] = {{2048, 2048, 2048}, {4096, 4096, 4096}};
constexpr GemmShape kNightly = {8192, 8192, 8192};

std::vector<Op> rows(const RunContext& context) {
  std::vector<Op> rows;
  const auto add = [&](const GemmShape& shape, GemmOutput output) {
    rows.emplace_back(voted_gemm(
        {.m = shape.m, .n = shape.n, .k = shape.k, .inputs = GemmInputs::normal, .output = output},
        context));
  };
  for (const GemmOutput output : {GemmOutput::f32, GemmOutput::bf16}) {
    add(kSmall, output);
    if (context.device != DeviceKind::cuda) continue;
    for (const GemmShape& shape : kCuda) add(shape, output);
  }
  if (context.device == DeviceKind::cuda && context.level != Level::quick)
    add(kNightly, GemmOutput::bf16);
  return rows;
}

const Register kCase{{
    .name = "gemm.distributed.vote",
    .claim = "all GPUs get the same bits from the same product of normal numbers",
    .cites = "tidemark: each sum has one order, whatever GPU it runs on",
    .scope = CaseScope::all_gpus,
    .seconds = 5,
    .fewest_gpus = 2,
    .rows = rows,
}};

}  // namespace
}  // namespace tidemark::suite
