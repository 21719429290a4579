// Allocates and fills what a Gemm multiplies. Whatever is not written on purpose is poison: a shard
// that never came, or an element that was never stored, is a NaN in the answer.
#include "kernels/cuda/gemm/resident_gemm.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <utility>
#include <vector>

#include "kernels/cuda/buffer.hpp"
#include "kernels/cuda/check.hpp"
#include "kernels/cuda/gemm/reference.hpp"
#include "kernels/cuda/gemm/tuning/choice.hpp"
#include "kernels/cuda/transport/gather.hpp"
#include "kernels/error.hpp"
#include "kernels/ops/payload.hpp"

namespace tidemark {
namespace {

/// Elements from one row of a plain panel to the next: TMA wants 16 bytes (cuTensorMapEncodeTiled).
std::uint64_t panel_pitch(const Gemm& gemm) { return layout_of(gemm, GemmOperand::a).pitch; }

std::uint64_t operand_bytes(const Gemm& gemm, GemmOperand operand) {
  const OperandLayout layout = layout_of(gemm, operand);
  return layout.rows * layout.pitch * element_bytes(gemm.element);
}

/// Whether C is what it was, times beta: nothing is multiplied then, and TMA has no map of nothing.
bool only_scales(const Gemm& gemm) { return gemm.k == 0 || gemm.alpha == 0; }

constexpr bool is_empty(const Gemm& gemm) { return gemm.rows.count == 0 || gemm.cols.count == 0; }

void require_inside(const Range& range, std::uint64_t extent, const char* name) {
  if (range.first > extent || range.count > extent - range.first)
    throw Error(fmt::format("gemm: {} {} to {} lie outside C, which has {}", name, range.first,
                            range.first + range.count, extent));
}

void require_sound(const Gemm& gemm) {
  if (const std::string_view refusal = layout_refusal(gemm); !refusal.empty())
    throw Error(fmt::format("gemm: {}", refusal));
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
  const std::uint64_t row_bytes = panel_row_bytes(gemm);
  for (const Shard& shard : shards)
    if (shard.owner != gemm.rank && shard.rows != 0)
      cuda_check(cudaMemsetAsync(panel.data() + shard.first_row * row_bytes, 0xff,
                                 shard.rows * row_bytes, stream),
                 "poison a shard of another rank");
}

/// The product without its memory.
LocalGemm sizes_of(const Gemm& gemm) {
  return {.pitch = layout_of(gemm, GemmOperand::a).pitch,
          .ldc = c_row_pitch(gemm) / c_element_bytes(gemm.output),
          .m = gemm.rows.count,
          .n = gemm.cols.count,
          .k = gemm.k,
          .output = gemm.output,
          .element = gemm.element,
          .a_major = gemm.a_major,
          .b_major = gemm.b_major,
          .b_pitch = layout_of(gemm, GemmOperand::b).pitch,
          .alpha = gemm.alpha,
          .beta = gemm.beta,
          .sm_budget = gemm.sm_budget,
          .one_sum = !gemm.everybody.empty()};
}

/// Whether engine/ multiplies: where no rung is named, and where no rung can.
bool runs_engine(const Gemm& gemm) {
  return gemm.engine == GemmEngine::fast && (gemm.rung == GemmRung::none || !is_plain(gemm));
}

/// Poison on either side of an operand. None where it is a panel, which others open by its start.
std::uint64_t operand_guard(const Gemm& gemm) {
  return is_plain(gemm) || gemm.transport != nullptr ? 0 : kGuardBytes;
}

/// Overwrites single elements of an operand that starts at `base`.
void plant(const Gemm& gemm, GemmOperand operand, std::byte* base, cudaStream_t stream) {
  for (const PlantedElement& planted : gemm.planted) {
    if (planted.operand != operand) continue;
    const std::uint16_t bits = to_element(gemm.element, planted.value);
    const std::uint64_t at = element_index(gemm, operand, planted.row, planted.k);
    const std::uint64_t size = element_bytes(gemm.element);  // of fp8 the low byte, which is first
    // Returns when the bytes have been taken: they are not page-locked.
    cuda_check(cudaMemcpyAsync(base + at * size, &bits, size, cudaMemcpyHostToDevice, stream),
               "plant an element");
  }
}

/// The operand as it lies in memory, NaN around it.
DeviceBuffer make_operand(const Gemm& gemm, GemmOperand operand, cudaStream_t stream) {
  const std::uint64_t guard = operand_guard(gemm);
  DeviceBuffer buffer(operand_bytes(gemm, operand) + 2 * guard);
  if (is_plain(gemm)) {
    fill_panel(gemm, operand, buffer, stream);
    plant(gemm, operand, buffer.data(), stream);
    return buffer;
  }
  cuda_check(cudaMemsetAsync(buffer.data(), 0xff, buffer.size(), stream), "poison an operand");
  launch_general_fill(gemm, operand, buffer.data() + guard, stream);
  plant(gemm, operand, buffer.data() + guard, stream);
  if (gemm.transport != nullptr)
    poison_foreign_shards(gemm, operand == GemmOperand::a ? gemm.a_shards : gemm.b_shards, buffer,
                          stream);
  return buffer;
}

/// NaN: what is not packed is found in C.
DeviceBuffer make_workspace(const LocalGemm& local, cudaStream_t stream) {
  DeviceBuffer workspace(engine_workspace_bytes(local));
  if (workspace.size() != 0)
    cuda_check(cudaMemsetAsync(workspace.data(), 0xff, workspace.size(), stream),
               "poison the workspace");
  return workspace;
}

/// The engine's configuration for `gemm`. A number holds for plain products and, of a table of
/// their own, for those of fp8; others get what suits them.
EngineConfiguration configuration_of(const Gemm& gemm, const LocalGemm& local) {
  const bool fp8 = is_fp8(local.element);
  if (gemm.configuration == 0 || (!is_plain(local) && !fp8))
    return chosen_configuration(embedded_gemm_table(), local);
  const std::span<const EngineConfiguration> all =
      fp8 ? fp8_configurations() : engine_configurations();
  if (gemm.configuration > all.size())
    throw Error(fmt::format("gemm: there is no configuration {}: the engine has {} of {}",
                            gemm.configuration, all.size(), name_of(local.element)));
  return all[gemm.configuration - 1];
}

/// Words that no gather has written yet.
void clear_words(const Gemm& gemm, ResidentArrivals& arrivals, cudaStream_t stream) {
  std::vector<std::uint32_t> words;
  for (const std::vector<Shard>* shards : {&gemm.a_shards, &gemm.b_shards})
    for (const Shard& shard : *shards)
      words.push_back(shard.owner == gemm.rank || shard.rows == 0 ? kOwnShard : 0);
  arrivals.words = DeviceBuffer(words.size() * sizeof(std::uint32_t));
  arrivals.b = arrivals.a() + gemm.a_shards.size();
  // Returns when the words have been taken: they are not page-locked.
  cuda_check(cudaMemcpyAsync(arrivals.words.data(), words.data(), arrivals.words.size(),
                             cudaMemcpyHostToDevice, stream),
             "clear the words of shards");
  arrivals.waited_ns = DeviceBuffer(sizeof(unsigned long long));
  cuda_check(cudaMemsetAsync(arrivals.waited_ns.data(), 0, arrivals.waited_ns.size(), stream),
             "clear the time waited for rows");
}

/// The engine as it runs beside the exchange: with the SMs that the route does not take.
ReadyEngine engine_beside(const Gemm& gemm, const ResidentGemm& block) {
  const std::uint32_t taken = sms_of(gemm.route);
  if (taken == 0) return block.engine;
  int device = 0;
  int sms = 0;
  cuda_check(cudaGetDevice(&device), "ask for the current GPU");
  cuda_check(cudaDeviceGetAttribute(&sms, cudaDevAttrMultiProcessorCount, device),
             "ask for the number of SMs");
  const std::uint32_t left = static_cast<std::uint32_t>(sms) - taken;
  LocalGemm fewer = block.local;
  fewer.sm_budget = gemm.sm_budget == 0 ? left : std::min(gemm.sm_budget, left);
  return prepare_engine(configuration_of(gemm, fewer), fewer);
}

/// Waits in the kernel outlast those of the host, which ends them when its deadline has passed.
void follow_exchange(const Gemm& gemm, ResidentGemm& block) {
  block.beside = engine_beside(gemm, block);
  ResidentArrivals& arrivals = block.arrivals;
  const std::vector<ArrivingTile> order = arrival_order(block.beside, gemm.a_shards, gemm.b_shards,
                                                        gemm.rank, fetches_at_once(gemm.route));
  arrivals.order = DeviceBuffer(order.size() * sizeof(ArrivingTile));
  cuda_check(cudaMemcpyAsync(arrivals.order.data(), order.data(), arrivals.order.size(),
                             cudaMemcpyHostToDevice, block.stream.get()),
             "put the order of tiles into device memory");
  const auto is_own = [&](const ArrivingTile& tile) {
    const auto mine = [&](const Shard& shard) { return shard.owner == gemm.rank; };
    return std::all_of(gemm.a_shards.begin() + tile.a_first, gemm.a_shards.begin() + tile.a_end,
                       mine) &&
           std::all_of(gemm.b_shards.begin() + tile.b_first, gemm.b_shards.begin() + tile.b_end,
                       mine);
  };
  const auto others = std::find_if_not(order.begin(), order.end(), is_own);
  const double bound_s = 2 * gemm.deadline_s;
  follow_arrivals(block.beside,
                  {.order = arrivals.order.as<ArrivingTile>(),
                   .own_tiles = static_cast<std::uint32_t>(others - order.begin()),
                   .a = arrivals.a(),
                   .b = arrivals.b,
                   .waited_ns = arrivals.waited_ns.as<unsigned long long>(),
                   .bound_us = static_cast<std::uint32_t>(bound_s * 1e9 / 1024)},
                  static_cast<std::uint32_t>(order.size()),
                  static_cast<std::uint64_t>(bound_s * 1e9) + kKernelWaitNs);
}

}  // namespace

std::uint64_t panel_row_bytes(const Gemm& gemm) {
  return panel_pitch(gemm) * element_bytes(gemm.element);
}

bool runs_beside(const Gemm& gemm) {
  return gemm.transport != nullptr && delivers_beside(gemm.route) && runs_engine(gemm) &&
         !only_scales(gemm);
}

std::unique_ptr<ResidentGemm> make_resident(const Gemm& gemm) {
  require_sound(gemm);
  auto block = std::make_unique<ResidentGemm>();
  const cudaStream_t stream = block->stream.get();
  block->words = EngineWords(stream);  // first: it waits for the stream, which has no deadline here
  block->a = make_operand(gemm, GemmOperand::a, stream);
  block->b = make_operand(gemm, GemmOperand::b, stream);
  LocalGemm& local = block->local;
  local = sizes_of(gemm);
  local.a = block->a.data() + operand_guard(gemm);
  local.b = block->b.data() + operand_guard(gemm);
  block->c = DeviceBuffer(block->c_bytes() + 2 * std::uint64_t{kGuardBytes});
  local.c = block->c.data() + kGuardBytes;
  block->barrier = DeviceBuffer(gemm.everybody.size() * kBarrierRowBytes);

  launch_poison(block->c.data(), block->c_bytes(), gemm.seed, stream);
  if (gemm.beta != 0) launch_fill_c(gemm, local.c, stream);
  if (block->barrier.size() != 0)
    cuda_check(cudaMemsetAsync(block->barrier.data(), 0, block->barrier.size(), stream),
               "clear the rows of the barrier");
  if (gemm.transport != nullptr) clear_words(gemm, block->arrivals, stream);
  if (gemm.engine == GemmEngine::reference || is_empty(gemm) || only_scales(gemm)) return block;
  if (runs_engine(gemm)) {
    block->workspace = make_workspace(local, stream);
    local.workspace = block->workspace.data();
    block->engine = prepare_engine(configuration_of(gemm, local), local);
    if (runs_beside(gemm)) follow_exchange(gemm, *block);
  } else {
    block->rung = prepare_rung(gemm.rung, local);
  }
  return block;
}

void poison_again(const Gemm& gemm, const ResidentGemm& block) {
  const cudaStream_t stream = block.stream.get();
  // Not the guards: what earlier samples wrote there is to be found.
  if (block.c_bytes() != 0)
    cuda_check(cudaMemsetAsync(block.local.c, 0xff, block.c_bytes(), stream), "poison C again");
  // Else rows that were not packed would be there from the launch before.
  if (block.workspace.size() != 0)
    cuda_check(cudaMemsetAsync(block.workspace.data(), 0xff, block.workspace.size(), stream),
               "poison the workspace again");
  if (gemm.beta != 0) launch_fill_c(gemm, block.local.c, stream);
  if (gemm.transport == nullptr) return;
  poison_foreign_shards(gemm, gemm.a_shards, block.a, stream);
  poison_foreign_shards(gemm, gemm.b_shards, block.b, stream);
}

void launch_engine(const Gemm& gemm, const ResidentGemm& block) {
  if (is_empty(gemm)) return;
  const bool reference = gemm.engine == GemmEngine::reference;
  if (only_scales(gemm) || (reference && !is_plain(gemm)))
    launch_general_reference(block.local, block.stream.get());
  else if (reference)
    launch_reference(block.local, block.stream.get());
  else if (runs_engine(gemm))
    start_engine(block.engine, block.words, block.stream.get());
  else
    launch_rung(block.rung, block.words.data(), block.stream.get());
}

void launch_beside(const Gemm& gemm, const ResidentGemm& block) {
  if (is_empty(gemm)) return;
  ReadyEngine engine = block.beside;
  engine.problem.epoch = block.epoch;
  start_engine(engine, block.words, block.stream.get());
}

double waited_for_rows_ns(const ResidentGemm& block) {
  if (block.beside.blocks == 0) return 0;
  unsigned long long ns = 0;
  const DeviceBuffer& sum = block.arrivals.waited_ns;
  const cudaStream_t stream = block.stream.get();
  cuda_check(cudaMemcpyAsync(&ns, sum.data(), sizeof(ns), cudaMemcpyDeviceToHost, stream),
             "read the time waited for rows");
  cuda_check(cudaMemsetAsync(sum.data(), 0, sum.size(), stream), "clear the time waited for rows");
  cuda_check(cudaStreamSynchronize(stream), "read the time waited for rows");
  return static_cast<double>(ns) / block.beside.blocks;
}

std::string engine_note(const Gemm& gemm) {
  std::string note = "reference";
  if (is_empty(gemm))
    note = "empty block";
  else if (gemm.engine != GemmEngine::reference && only_scales(gemm))
    note = "nothing to multiply";
  else if (runs_engine(gemm))
    note = fmt::format("engine {}{}", name_of(configuration_of(gemm, sizes_of(gemm))),
                       pitch_note(sizes_of(gemm)));
  else if (gemm.engine != GemmEngine::reference)
    note = fmt::format("rung {}", name_of(gemm.rung));
  if (gemm.sm_budget != 0 && runs_engine(gemm))
    note += fmt::format("; at most {} SMs", gemm.sm_budget);
  if (is_plain(gemm) && panel_pitch(gemm) != gemm.k)
    note += fmt::format("; rows of {} elements padded to {}", gemm.k, panel_pitch(gemm));
  return note;
}

}  // namespace tidemark
