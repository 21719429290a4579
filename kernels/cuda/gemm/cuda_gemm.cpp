// Runs one product: panels, product, C read back.
#include "kernels/cuda/gemm/cuda_gemm.hpp"

#include <memory>

#include "kernels/cuda/check.hpp"
#include "kernels/cuda/gemm/product_steps.hpp"
#include "kernels/cuda/gemm/read_back.hpp"
#include "kernels/cuda/gemm/resident_gemm.hpp"

namespace tidemark {
namespace {

/// The product beside a second exchange, into panels that are poisoned and words that the first one
/// has left: a word that is taken for this exchange's, or is there before its bytes, is a NaN in C.
Trouble multiply_beside_again(const Gemm& gemm, std::unique_ptr<ResidentGemm>& block) {
  Trouble trouble = poison_and_meet(gemm, block);
  ProductClock clock;
  return trouble ? trouble : multiply_beside(gemm, block, true, Start::at_once, 0, clock);
}

/// The first thing that goes wrong ends it.
Trouble run_block(const Gemm& gemm, RunResult& result) {
  std::unique_ptr<ResidentGemm> block;
  Trouble trouble = make_block(gemm, block);
  if (!trouble) trouble = exchange(gemm, block, !runs_beside(gemm));
  if (!trouble)
    trouble = runs_beside(gemm) ? multiply_beside_again(gemm, block)
                                : multiply(gemm, block, 0, ProductClock{});
  if (!trouble) trouble = kernel_trouble(*block);
  if (trouble) return trouble;
  read_back(gemm, *block, result);
  return gemm.vote ? exchange_digests(gemm, result) : Trouble{};
}

}  // namespace

RunResult run_gemm(const Gemm& gemm) {
  RunResult result;
  result.note = engine_note(gemm);
  try {
    take(result, run_block(gemm, result));
  } catch (const StickyError& error) {
    take(result, sticky(error));
  }
  return result;
}

}  // namespace tidemark
