// Small integers around the planted elements, so that whatever they do not touch has one right
// answer.
#include "suite/gemm/planted_rows.hpp"

#include <cstddef>
#include <iterator>

namespace tidemark::suite {
namespace {

// One tile, less and more, tails of every kind, more k than a ring.
constexpr GemmShape kSmall[] = {
    {64, 64, 64}, {65, 67, 72}, {33, 130, 71}, {3, 5, 7}, {70, 40, 264}};
constexpr GemmShape kCuda[] = {{257, 511, 1031}, {520, 264, 200}, {300, 520, 136}};
constexpr GemmShape kRungs = {257, 300, 328};
constexpr GemmOutput kOutputs[] = {GemmOutput::f32, GemmOutput::bf16, GemmOutput::f16};

Gemm product(const GemmShape& shape, Plant plant) {
  Gemm gemm = whole_product(shape, GemmInputs::small_integers);
  gemm.planted = plant(shape.m, shape.n, shape.k);
  return gemm;
}

}  // namespace

std::vector<Op> planted_rows(const RunContext& context, const std::vector<Plant>& plants) {
  std::vector<Op> rows;
  const bool on_gpu = context.device == DeviceKind::cuda;
  std::size_t turn = 0;
  for (const Plant plant : plants)
    for (const GemmElement element : {GemmElement::bf16, GemmElement::f16})
      for (const GemmOutput output : kOutputs) {
        const auto add = [&](const GemmShape& shape) {
          Gemm gemm = product(shape, plant);
          gemm.element = element;
          gemm.output = output;
          if (turn % 4 == 1) gemm.a_major = Major::mn;
          if (turn % 4 >= 2) gemm.b_major = Major::mn;
          if (turn % 5 == 4) gemm.alpha = -2;
          rows.emplace_back(gemm);
        };
        add(kSmall[turn % std::size(kSmall)]);
        if (on_gpu) add(kCuda[turn % std::size(kCuda)]);
        ++turn;
      }
  if (!on_gpu) return rows;
  for (const Plant plant : plants)
    for (const GemmOutput output : {GemmOutput::f32, GemmOutput::bf16})
      for (const GemmRung rung : kGemmRungs) {
        Gemm gemm = product(kRungs, plant);
        gemm.output = output;
        gemm.rung = rung;
        rows.emplace_back(gemm);
      }
  return rows;
}

}  // namespace tidemark::suite
