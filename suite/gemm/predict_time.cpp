// Follows each rank's chunks over network and link, and its tiles behind them.
#include "suite/gemm/predict_time.hpp"

#include <algorithm>
#include <limits>
#include <utility>

namespace tidemark {
namespace {

constexpr std::uint64_t kTile = 256;  // rows of a panel that a tile of C needs together

constexpr std::size_t kPanels = 2;  // of A and of B

/// A product, shared out: what all ranks have in common.
struct Shared {
  GemmShape shape;
  std::uint32_t ranks = 0;
  Grid grid;
  PredictedMachine machine;
  double row_bytes = 0;  // of both panels
};

std::uint32_t node_of(const Shared& shared, std::uint32_t rank) {
  return rank / shared.machine.gpus_per_node;
}

/// The last node may be smaller.
std::uint32_t gpus_beside(const Shared& shared, std::uint32_t rank) {
  const std::uint32_t first = node_of(shared, rank) * shared.machine.gpus_per_node;
  return std::min(shared.machine.gpus_per_node, shared.ranks - first);
}

/// Bytes that cross the network to the node of `rank`: each that any of its GPUs needs once.
double bytes_to_node(const Shared& shared, std::uint32_t rank) {
  const Grid& grid = shared.grid;
  std::vector<bool> row_here(grid.rows), col_here(grid.cols);
  const std::uint32_t node = node_of(shared, rank);
  const std::uint32_t first = node * shared.machine.gpus_per_node;
  for (std::uint32_t each = first; each < first + gpus_beside(shared, rank); ++each) {
    row_here[each / grid.cols] = true;
    col_here[each % grid.cols] = true;
  }
  double bytes = 0;
  for (std::uint32_t owner = 0; owner < shared.ranks; ++owner) {
    if (node_of(shared, owner) == node) continue;
    const std::uint32_t row = owner / grid.cols, col = owner % grid.cols;
    const std::uint64_t rows = part_of(shared.shape.m, grid.rows, row).count;
    const std::uint64_t cols = part_of(shared.shape.n, grid.cols, col).count;
    if (row_here[row])
      bytes += shared.row_bytes * static_cast<double>(part_of(rows, grid.cols, col).count);
    if (col_here[col])
      bytes += shared.row_bytes * static_cast<double>(part_of(cols, grid.rows, row).count);
  }
  return bytes;
}

/// A shard of another rank.
struct Chunk {
  std::size_t index = 0;  // in the shards of its panel
  double bytes = 0;
  bool far = false;  // on another node
  double at_s = 0;   // it is in the node
};

using Panel = std::vector<Chunk>;

Panel panel_of(const Shared& shared, const std::vector<Shard>& shards, std::uint32_t rank) {
  Panel panel;
  for (const std::size_t index : fetch_order(shards, rank)) {
    const Shard& shard = shards[index];
    panel.push_back({.index = index,
                     .bytes = shared.row_bytes * static_cast<double>(shard.rows),
                     .far = node_of(shared, shard.owner) != node_of(shared, rank)});
  }
  return panel;
}

/// Takes the far chunks to the node, and says how long its network is busy.
double cross_network(const Shared& shared, std::array<Panel, kPanels>& panels, std::uint32_t rank) {
  double mine = 0;
  for (const Panel& panel : panels)
    for (const Chunk& chunk : panel) mine += chunk.far ? chunk.bytes : 0;
  if (mine == 0) return 0;
  const double busy_s =
      bytes_to_node(shared, rank) / gpus_beside(shared, rank) / shared.machine.network;
  std::array<std::vector<PanelTransfer>, kPanels> far;
  for (std::size_t i = 0; i < kPanels; ++i)
    for (const Chunk& chunk : panels[i])
      if (chunk.far) far[i].push_back({.cost_s = busy_s * (chunk.bytes / mine)});
  share_line(far[0], far[1]);
  for (std::size_t i = 0; i < kPanels; ++i) {
    std::size_t next = 0;
    for (Chunk& chunk : panels[i])
      if (chunk.far) chunk.at_s = far[i][next++].done_s;
  }
  return busy_s;
}

/// When each shard of both panels can be read; own ones at once. Adds up how long the link is busy.
std::array<std::vector<double>, kPanels> arrivals_of(const Shared& shared,
                                                     std::array<Panel, kPanels>& panels,
                                                     const std::array<std::size_t, kPanels>& shards,
                                                     std::uint32_t rank, double& busy_s) {
  const double gpus = gpus_beside(shared, rank);
  const double from_peers = (gpus - 1) / gpus;  // of a far byte
  std::array<std::vector<PanelTransfer>, kPanels> line;
  for (std::size_t i = 0; i < kPanels; ++i) {
    std::stable_sort(panels[i].begin(), panels[i].end(),
                     [](const Chunk& one, const Chunk& two) { return one.at_s < two.at_s; });
    for (const Chunk& chunk : panels[i]) {
      const double cost_s = chunk.bytes / shared.machine.link * (chunk.far ? from_peers : 1);
      line[i].push_back({.ready_s = chunk.at_s, .cost_s = cost_s});
      busy_s += cost_s;
    }
  }
  share_line(line[0], line[1]);
  std::array<std::vector<double>, kPanels> arrivals;
  for (std::size_t i = 0; i < kPanels; ++i) {
    arrivals[i].assign(shards[i], 0);
    for (std::size_t each = 0; each < panels[i].size(); ++each)
      arrivals[i][panels[i][each].index] = line[i][each].done_s;
  }
  return arrivals;
}

/// A panel in strips of one tile, which wait for all shards that they touch.
std::vector<ReadyRows> strips_of(const std::vector<Shard>& shards, const std::vector<double>& at_s,
                                 std::uint64_t rows) {
  std::vector<ReadyRows> strips;
  for (std::uint64_t first = 0; first < rows; first += kTile)
    strips.push_back({.rows = std::min(kTile, rows - first)});
  for (std::size_t i = 0; i < shards.size(); ++i) {
    if (shards[i].rows == 0) continue;
    const std::uint64_t last = (shards[i].first_row + shards[i].rows - 1) / kTile;
    for (std::uint64_t strip = shards[i].first_row / kTile; strip <= last; ++strip)
      strips[strip].ready_s = std::max(strips[strip].ready_s, at_s[i]);
  }
  return strips;
}

Bottleneck longest_of(const PredictedTime& time) {
  const std::array<double, 4> all = {time.product_s, time.link_s, time.network_s, time.fixed_s};
  return static_cast<Bottleneck>(std::max_element(all.begin(), all.end()) - all.begin());
}

PredictedTime time_of_rank(const Shared& shared, std::uint32_t rank) {
  const GemmShape& shape = shared.shape;
  const std::uint32_t nodes = node_of(shared, shared.ranks - 1) + 1;
  Gemm whole{.m = shape.m, .n = shape.n, .k = shape.k};
  // The usual ones, which cut panels into other pieces.
  whole.route = nodes == 1 ? PanelRoute::copy_engine : PanelRoute::nccl_overlap;
  const Gemm gemm = distributed_gemm(std::move(whole), rank, shared.ranks, nullptr);
  PredictedTime time{.ranks = shared.ranks,
                     .nodes = nodes,
                     .grid = shared.grid,
                     .fixed_s = shared.ranks == 1 ? 0 : shared.machine.fixed_s};
  std::array<Panel, kPanels> panels = {panel_of(shared, gemm.a_shards, rank),
                                       panel_of(shared, gemm.b_shards, rank)};
  time.network_s = cross_network(shared, panels, rank);
  const auto arrivals =
      arrivals_of(shared, panels, {gemm.a_shards.size(), gemm.b_shards.size()}, rank, time.link_s);
  const double pair_s = 2 * static_cast<double>(shape.k) / shared.machine.product;
  time.product_s =
      pair_s * static_cast<double>(gemm.rows.count) * static_cast<double>(gemm.cols.count);
  double done_s = multiplied_s(strips_of(gemm.a_shards, arrivals[0], gemm.rows.count),
                               strips_of(gemm.b_shards, arrivals[1], gemm.cols.count), pair_s);
  if (done_s < time.product_s * (1 + 1e-9)) done_s = time.product_s;  // sums of strips round
  time.wait_s = done_s - time.product_s;
  time.seconds = done_s + time.fixed_s;
  return time;
}

}  // namespace

PredictedTime predict_time(const GemmShape& shape, std::uint32_t ranks,
                           const PredictedMachine& machine) {
  const Gemm panels{.k = shape.k};
  const Shared shared{.shape = shape,
                      .ranks = ranks,
                      .grid = plan_grid(ranks, shape.m, shape.n),
                      .machine = machine,
                      .row_bytes = static_cast<double>(layout_of(panels, GemmOperand::a).pitch *
                                                       element_bytes(panels.element))};
  PredictedTime slowest;
  double local_s = 0;
  for (std::uint32_t rank = 0; rank < ranks; ++rank) {
    const PredictedTime time = time_of_rank(shared, rank);
    local_s = std::max(local_s, time.product_s);
    if (rank == 0 || time.seconds > slowest.seconds) slowest = time;
  }
  slowest.efficiency = local_s / slowest.seconds;
  slowest.flops = 2.0 * static_cast<double>(shape.m) * static_cast<double>(shape.n) *
                  static_cast<double>(shape.k) / slowest.seconds;
  slowest.bottleneck = longest_of(slowest);
  return slowest;
}

void share_line(std::span<PanelTransfer> left, std::span<PanelTransfer> right) {
  constexpr double kNever = std::numeric_limits<double>::infinity();
  const std::array<std::span<PanelTransfer>, 2> queues = {left, right};
  std::array<std::size_t, 2> at = {0, 0};
  std::array<double, 2> rest = {0, 0};  // of the transfer that each queue is at
  for (std::size_t i = 0; i < 2; ++i) rest[i] = queues[i].empty() ? 0 : queues[i][0].cost_s;
  double now = 0;
  for (;;) {
    std::array<bool, 2> active = {false, false};
    double next_ready = kNever;
    for (std::size_t i = 0; i < 2; ++i) {
      if (at[i] == queues[i].size()) continue;
      const double ready = queues[i][at[i]].ready_s;
      active[i] = ready <= now;
      if (!active[i]) next_ready = std::min(next_ready, ready);
    }
    if (!active[0] && !active[1]) {
      if (next_ready == kNever) return;
      now = next_ready;
      continue;
    }
    const double sharing = active[0] && active[1] ? 2 : 1;
    const double least =
        std::min(active[0] ? rest[0] : kNever, active[1] ? rest[1] : kNever);  // to be served
    const bool interrupted = now + least * sharing > next_ready;
    const double served = interrupted ? (next_ready - now) / sharing : least;
    now = interrupted ? next_ready : now + least * sharing;
    for (std::size_t i = 0; i < 2; ++i) {
      if (!active[i]) continue;
      rest[i] -= served;
      if (interrupted || rest[i] > 0) continue;
      queues[i][at[i]].done_s = now;
      if (++at[i] < queues[i].size()) rest[i] = queues[i][at[i]].cost_s;
    }
  }
}

double multiplied_s(std::vector<ReadyRows> a, std::vector<ReadyRows> b, double pair_s) {
  constexpr auto kEarlier = [](const ReadyRows& one, const ReadyRows& two) {
    return one.ready_s < two.ready_s;
  };
  std::sort(a.begin(), a.end(), kEarlier);
  std::sort(b.begin(), b.end(), kEarlier);
  double done_s = 0, rows = 0, cols = 0;
  std::size_t next_a = 0, next_b = 0;
  while (next_a < a.size() || next_b < b.size()) {
    const bool take_a =
        next_b == b.size() || (next_a < a.size() && a[next_a].ready_s <= b[next_b].ready_s);
    const ReadyRows& taken = take_a ? a[next_a++] : b[next_b++];
    const double pairs = static_cast<double>(taken.rows) * (take_a ? cols : rows);
    (take_a ? rows : cols) += static_cast<double>(taken.rows);
    if (pairs > 0) done_s = std::max(done_s, taken.ready_s) + pairs * pair_s;
  }
  return done_s;
}

}  // namespace tidemark
