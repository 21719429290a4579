// Makes panels and waits, bounded, for the parts that other ranks own.
#include "kernels/virtual/gemm_panels.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <thread>

#include "kernels/error.hpp"

namespace tidemark::kernels {
namespace {

constexpr auto kPollEvery = std::chrono::microseconds(50);

/// Aborts the transport on the way out unless told that everything arrived: after a time-out the
/// panels are freed, and a peer's late rows would land in freed memory.
class GatherInFlight {
 public:
  explicit GatherInFlight(Transport& transport) : transport_(&transport) {}
  GatherInFlight(const GatherInFlight&) = delete;
  GatherInFlight& operator=(const GatherInFlight&) = delete;
  ~GatherInFlight() {
    if (transport_ != nullptr) transport_->abort();
  }
  void arrived() { transport_ = nullptr; }

 private:
  Transport* transport_;
};

struct Awaited {
  const PanelBuffer* panel;
  std::size_t shard;
};

std::vector<Awaited> start_all(Transport& transport, std::span<const PanelBuffer> panels) {
  std::vector<Awaited> awaited;
  for (const PanelBuffer& panel : panels) {
    transport.start(panel);
    for (std::size_t i = 0; i < panel.shards.size(); ++i) awaited.push_back({&panel, i});
  }
  return awaited;
}

std::string missing(const Awaited& awaited, double seconds) {
  static constexpr const char* kNames[] = {"panel A", "panel B", "barrier", "peer memory"};
  const Shard& shard = awaited.panel->shards[awaited.shard];
  const std::uint32_t id = awaited.panel->id;
  return fmt::format("waits for rank {}: {}, shard {} (rows {} to {}) not ready within {:g} s",
                     shard.owner, id < std::size(kNames) ? kNames[id] : "panel", awaited.shard,
                     shard.first_row, shard.first_row + shard.rows, seconds);
}

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
                  .major = is_a ? gemm.a_major : gemm.b_major,
                  .element = gemm.element,
                  .plain = is_plain(gemm)};
  if (gemm.transport == nullptr) panel.shards = {{gemm.rank, 0, panel.rows}};
  panel.elements.assign(layout.rows * layout.pitch, 0xffff);
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

PanelBuffer buffer_of(GemmPanel& panel, std::uint32_t id) {
  return {.id = id,
          .base = reinterpret_cast<std::byte*>(panel.elements.data()),
          .row_bytes = panel.pitch * sizeof(std::uint16_t),
          .shards = panel.shards};
}

std::string gather(Transport& transport, std::span<const PanelBuffer> panels, double seconds) {
  GatherInFlight in_flight(transport);
  const auto deadline = std::chrono::steady_clock::now() + std::chrono::duration<double>(seconds);
  std::vector<Awaited> awaited = start_all(transport, panels);
  while (true) {
    std::erase_if(awaited, [&transport](const Awaited& one) {
      return transport.ready(one.panel->id, one.shard);
    });
    if (awaited.empty()) break;
    if (std::chrono::steady_clock::now() >= deadline) return missing(awaited.front(), seconds);
    std::this_thread::sleep_for(kPollEvery);
  }
  in_flight.arrived();
  return {};
}

}  // namespace tidemark::kernels
