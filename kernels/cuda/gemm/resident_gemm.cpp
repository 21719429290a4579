// Allocates and fills what a Gemm multiplies. Whatever is not written on purpose is poison: a shard
// that never came, or an element that was never stored, is a NaN in the answer.
#include "kernels/cuda/gemm/resident_gemm.hpp"

#include <fmt/format.h>

#include <vector>

#include "kernels/cuda/check.hpp"
#include "kernels/cuda/gemm/gather.hpp"
#include "kernels/cuda/gemm/inputs.hpp"
#include "kernels/error.hpp"
#include "kernels/ops/payload.hpp"

namespace tidemark {
namespace {

constexpr std::uint64_t rounded_up(std::uint64_t value, std::uint64_t step) {
  return (value + step - 1) / step * step;
}

/// Elements from one row of a panel to the next: TMA wants 16 bytes (cuTensorMapEncodeTiled).
constexpr std::uint64_t panel_pitch(const Gemm& gemm) { return rounded_up(gemm.k, 8); }

constexpr bool is_empty(const Gemm& gemm) { return gemm.rows.count == 0 || gemm.cols.count == 0; }

void require_inside(const Range& range, std::uint64_t extent, const char* name) {
  if (range.first > extent || range.count > extent - range.first)
    throw Error(fmt::format("gemm: {} {} to {} lie outside C, which has {}", name, range.first,
                            range.first + range.count, extent));
}

void require_sound(const Gemm& gemm) {
  if (gemm.k == 0) throw Error("gemm: k is 0, there is nothing to sum: give k of at least 1");
  require_inside(gemm.rows, gemm.m, "rows");
  require_inside(gemm.cols, gemm.n, "columns");
  if (gemm.transport == nullptr) return;
  require_cover(gemm.a_shards, gemm.rows.count, "gemm: panel A");
  require_cover(gemm.b_shards, gemm.cols.count, "gemm: panel B");
}

/// Writes what this rank owns of a panel; the rest is NaN until the transport brings it.
void fill_panel(const Gemm& gemm, GemmOperand operand, const DeviceBuffer& panel,
                cudaStream_t stream) {
  const bool is_a = operand == GemmOperand::a;
  const Range& range = is_a ? gemm.rows : gemm.cols;
  const std::uint64_t pitch = panel_pitch(gemm);
  const std::vector<Shard> whole = {{.owner = gemm.rank, .first_row = 0, .rows = range.count}};
  const std::vector<Shard>& gathered = is_a ? gemm.a_shards : gemm.b_shards;
  if (panel.size() != 0)
    cuda_check(cudaMemsetAsync(panel.data(), 0xff, panel.size(), stream), "poison a panel");
  for (const Shard& shard : gemm.transport == nullptr ? whole : gathered)
    if (shard.owner == gemm.rank && shard.rows != 0)
      launch_fill({.base = panel.data() + shard.first_row * pitch * sizeof(std::uint16_t),
                   .pitch = pitch,
                   .k = gemm.k,
                   .rows = shard.rows,
                   .first_global = range.first + shard.first_row},
                  gemm.inputs, operand, gemm.seed, stream);
}

/// The rows that the transport brings; whole rows, their padding included.
void poison_foreign_shards(const Gemm& gemm, const std::vector<Shard>& shards,
                           const DeviceBuffer& panel, cudaStream_t stream) {
  const std::uint64_t row_bytes = panel_pitch(gemm) * sizeof(std::uint16_t);
  for (const Shard& shard : shards)
    if (shard.owner != gemm.rank && shard.rows != 0)
      cuda_check(cudaMemsetAsync(panel.data() + shard.first_row * row_bytes, 0xff,
                                 shard.rows * row_bytes, stream),
                 "poison a shard of another rank again");
}

}  // namespace

std::unique_ptr<ResidentGemm> make_resident(const Gemm& gemm) {
  require_sound(gemm);
  auto block = std::make_unique<ResidentGemm>();
  const std::uint64_t row_bytes = panel_pitch(gemm) * sizeof(std::uint16_t);
  block->a = DeviceBuffer(gemm.rows.count * row_bytes);
  block->b = DeviceBuffer(gemm.cols.count * row_bytes);
  LocalGemm& local = block->local;
  local = {.a = block->a.data(),
           .b = block->b.data(),
           .pitch = panel_pitch(gemm),
           .ldc = c_row_pitch(gemm.cols.count, gemm.output) / c_element_bytes(gemm.output),
           .m = gemm.rows.count,
           .n = gemm.cols.count,
           .k = gemm.k,
           .output = gemm.output};
  block->c = DeviceBuffer(block->c_bytes() + 2 * std::uint64_t{kGuardBytes});
  local.c = block->c.data() + kGuardBytes;
  block->barrier = DeviceBuffer(gemm.everybody.size() * kBarrierRowBytes);
  block->timed_out = DeviceBuffer(sizeof(std::uint32_t));

  const cudaStream_t stream = block->stream.get();
  launch_poison(block->c.data(), block->c_bytes(), gemm.seed, stream);
  fill_panel(gemm, GemmOperand::a, block->a, stream);
  fill_panel(gemm, GemmOperand::b, block->b, stream);
  if (block->barrier.size() != 0)
    cuda_check(cudaMemsetAsync(block->barrier.data(), 0, block->barrier.size(), stream),
               "clear the rows of the barrier");
  cuda_check(cudaMemsetAsync(block->timed_out.data(), 0, block->timed_out.size(), stream),
             "clear the time-out word");
  if (gemm.engine == GemmEngine::reference || is_empty(gemm)) return block;
  block->rung = prepare_rung(rung_of(gemm), local);
  return block;
}

void poison_again(const Gemm& gemm, const ResidentGemm& block) {
  const cudaStream_t stream = block.stream.get();
  // Not the guards: what earlier samples wrote there is to be found.
  if (block.c_bytes() != 0)
    cuda_check(cudaMemsetAsync(block.local.c, 0xff, block.c_bytes(), stream), "poison C again");
  if (gemm.transport == nullptr) return;
  poison_foreign_shards(gemm, gemm.a_shards, block.a, stream);
  poison_foreign_shards(gemm, gemm.b_shards, block.b, stream);
}

void launch_engine(const Gemm& gemm, const ResidentGemm& block) {
  if (is_empty(gemm)) return;
  auto* const timed_out = block.timed_out.as<std::uint32_t>();
  if (gemm.engine == GemmEngine::reference)
    launch_reference(block.local, block.stream.get());
  else
    launch_rung(block.rung, timed_out, block.stream.get());
}

std::string engine_note(const Gemm& gemm) {
  std::string note = gemm.engine == GemmEngine::reference
                         ? "reference"
                         : fmt::format("rung {}", name_of(rung_of(gemm)));
  if (is_empty(gemm)) note = "empty block";
  if (panel_pitch(gemm) != gemm.k)
    note += fmt::format("; rows of {} elements padded to {}", gemm.k, panel_pitch(gemm));
  return note;
}

}  // namespace tidemark
