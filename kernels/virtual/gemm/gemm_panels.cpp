// Makes the parts of panels that this rank owns, and poisons the others.
#include "kernels/virtual/gemm/gemm_panels.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "kernels/error.hpp"

namespace tidemark::kernels {
namespace {

void write_shard(GemmPanel& panel, const Gemm& gemm, GemmOperand operand, const Shard& shard) {
  const Range& range = operand == GemmOperand::a ? gemm.rows : gemm.cols;
  for (std::uint64_t row = shard.first_row; row < shard.first_row + shard.rows; ++row) {
    for (std::uint64_t k = 0; k < panel.k; ++k)
      panel.elements[panel.index_of(row, k, panel.pitch)] =
          gemm_element(gemm.inputs, operand, gemm.seed, range.first + row, k, panel.element);
    if (!panel.plain) continue;
    std::uint16_t* const to = panel.elements.data() + row * panel.pitch;
    std::fill(to + panel.k, to + panel.pitch, std::uint16_t{0});
  }
}

}  // namespace

GemmPanel make_gemm_panel(const Gemm& gemm, GemmOperand operand) {
  const bool is_a = operand == GemmOperand::a;
  const OperandLayout layout = layout_of(gemm, operand);
  GemmPanel panel{.rows = is_a ? gemm.rows.count : gemm.cols.count,
                  .k = gemm.k,
                  .pitch = layout.pitch,
                  .elements = {},
                  .shards = is_a ? gemm.a_shards : gemm.b_shards,
                  .arrived = {},
                  .major = is_a ? gemm.a_major : gemm.b_major,
                  .element = gemm.element,
                  .plain = is_plain(gemm)};
  if (gemm.transport == nullptr) panel.shards = {{gemm.rank, 0, panel.rows}};
  panel.elements.assign(layout.rows * layout.pitch, 0xffff);
  panel.arrived.assign(panel.shards.size(), 0);
  for (const Shard& shard : panel.shards) {
    if (shard.first_row > panel.rows || shard.rows > panel.rows - shard.first_row)
      throw Error(fmt::format("panel {}: shard of rank {} covers rows {} to {}, the panel has {}",
                              is_a ? "A" : "B", shard.owner, shard.first_row,
                              shard.first_row + shard.rows, panel.rows));
    if (shard.owner == gemm.rank) write_shard(panel, gemm, operand, shard);
  }
  for (const PlantedElement& planted : gemm.planted)
    if (planted.operand == operand)
      panel.elements[element_index(gemm, operand, planted.row, planted.k)] =
          to_element(gemm.element, planted.value);
  return panel;
}

void poison_foreign_shards(GemmPanel& panel, std::uint32_t rank) {
  for (const Shard& shard : panel.shards)
    if (shard.owner != rank)
      std::fill_n(panel.elements.data() + shard.first_row * panel.pitch, shard.rows * panel.pitch,
                  std::uint16_t{0xffff});
}

PanelBuffer buffer_of(GemmPanel& panel, std::uint32_t id, const GatherEpoch& epoch) {
  return {.id = id,
          .base = reinterpret_cast<std::byte*>(panel.elements.data()),
          .row_bytes = panel.pitch * sizeof(std::uint16_t),
          .shards = panel.shards,
          .arrived = epoch.number == 0 ? nullptr : panel.arrived.data(),
          .epoch = epoch.number,
          .last = epoch.last};
}

}  // namespace tidemark::kernels
