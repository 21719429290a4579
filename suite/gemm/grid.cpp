// Plans the grid of a distributed product and fills in one rank's share of it.
#include "suite/gemm/grid.hpp"

#include <algorithm>
#include <utility>

#include <fmt/format.h>

#include "kernels/error.hpp"

namespace tidemark {
namespace {

constexpr std::uint64_t kGroup = 16;  // rows that keep a block's edge on an edge of a tile's atoms

constexpr std::uint32_t kMostOfAPanel = 1024;  // chunks, as long as there are fewer owners

/// `rows` of a panel split among `parts` ranks, of which the first is `owner` and each next one
/// `step` further; each part in chunks.
std::vector<Shard> shards_of(std::uint64_t rows, std::uint64_t row_bytes, std::uint32_t parts,
                             std::uint32_t owner, std::uint32_t step, PanelRoute route) {
  std::vector<Shard> shards;
  Chunking chunking = chunking_of(route);
  chunking.most = std::clamp(kMostOfAPanel / parts, 1U, chunking.most);
  for (std::uint32_t i = 0; i < parts; ++i) {
    const Range part = part_of(rows, parts, i);
    const std::uint32_t chunks = parts == 1 ? 1 : chunks_of(part.count, row_bytes, chunking);
    for (std::uint32_t chunk = 0; chunk < chunks; ++chunk) {
      const Range piece = part_of(part.count, chunks, chunk);
      shards.push_back(
          {.owner = owner + i * step, .first_row = part.first + piece.first, .rows = piece.count});
    }
  }
  return shards;
}

/// `gemm` as rank `rank` of `ranks` runs it.
Gemm joined(Gemm gemm, std::uint32_t rank, std::uint32_t ranks, Transport* transport) {
  gemm.rank = rank;
  gemm.transport = transport;
  // Below the patience of whoever watches this process, so that a shard that never comes is named.
  gemm.deadline_s = 20;
  gemm.everybody.clear();
  for (std::uint32_t i = 0; i < ranks; ++i)
    gemm.everybody.push_back({.owner = i, .first_row = i, .rows = 1});
  return gemm;
}

}  // namespace

Grid plan_grid(std::uint32_t ranks, std::uint64_t m, std::uint64_t n) {
  if (ranks == 0) throw Error("a grid needs at least one rank");
  Grid best{.rows = 1, .cols = ranks};
  for (std::uint32_t rows = 2; rows <= ranks; ++rows) {
    if (ranks % rows != 0) continue;
    const Grid grid{.rows = rows, .cols = ranks / rows};
    if (bytes_received(grid, m, n, 1) < bytes_received(best, m, n, 1)) best = grid;
  }
  return best;
}

std::uint64_t bytes_received(const Grid& grid, std::uint64_t m, std::uint64_t n, std::uint64_t k) {
  return 2 * k * (m * (grid.cols - 1) + n * (grid.rows - 1));
}

Range part_of(std::uint64_t count, std::uint32_t parts, std::uint32_t index) {
  const std::uint64_t unit = count / kGroup >= parts ? kGroup : 1;
  const std::uint64_t units = (count + unit - 1) / unit;
  const std::uint64_t each = units / parts;
  const std::uint64_t longer = units % parts;  // parts that get one unit more
  const std::uint64_t first = unit * (each * index + std::min<std::uint64_t>(index, longer));
  const std::uint64_t size = unit * (each + (index < longer ? 1 : 0));
  // The last group may be incomplete.
  return {.first = first, .count = std::min(size, count - first)};
}

Chunking chunking_of(PanelRoute route) {
  // Each costs a copy engine 3 us and the host 10, and where two ranks read from one owner, they
  // may meet at each: of 16 MiB the exchange of four GPUs ends 25 us before one of 8.
  if (route == PanelRoute::copy_engine) return {.bytes = std::uint64_t{16} << 20, .most = 16};
  return {.bytes = std::uint64_t{8} << 20, .most = 16};
}

std::uint32_t chunks_of(std::uint64_t rows, std::uint64_t row_bytes, const Chunking& chunking) {
  if (rows < 2) return 1;
  const std::uint64_t chunks = std::max<std::uint64_t>(2, rows * row_bytes / chunking.bytes);
  return static_cast<std::uint32_t>(std::min({chunks, rows, std::uint64_t{chunking.most}}));
}

Gemm distributed_gemm(Gemm whole, std::uint32_t rank, std::uint32_t ranks, Transport* transport,
                      Grid grid) {
  if (rank >= ranks) throw Error(fmt::format("rank {} of {} does not exist", rank, ranks));
  if (grid.rows == 0) grid = plan_grid(ranks, whole.m, whole.n);
  if (std::uint64_t{grid.rows} * grid.cols != ranks)
    throw Error(fmt::format("a grid of {} x {} is not of {} ranks", grid.rows, grid.cols, ranks));
  const std::uint32_t row = rank / grid.cols;
  const std::uint32_t col = rank % grid.cols;
  whole.rows = part_of(whole.m, grid.rows, row);
  whole.cols = part_of(whole.n, grid.cols, col);
  const std::uint64_t row_bytes =
      layout_of(whole, GemmOperand::a).pitch * element_bytes(whole.element);
  whole.a_shards =
      shards_of(whole.rows.count, row_bytes, grid.cols, row * grid.cols, 1, whole.route);
  whole.b_shards = shards_of(whole.cols.count, row_bytes, grid.rows, col, grid.cols, whole.route);
  return joined(std::move(whole), rank, ranks, transport);
}

Gemm voted_gemm(Gemm whole, const RunContext& context) {
  whole.rows = {0, whole.m};
  whole.cols = {0, whole.n};
  whole.a_shards = {{.owner = context.rank, .first_row = 0, .rows = whole.m}};
  whole.b_shards = {{.owner = context.rank, .first_row = 0, .rows = whole.n}};
  whole.vote = true;
  return joined(std::move(whole), context.rank, context.ranks, context.transport);
}

Gemm distributed_gemm(Gemm whole, const RunContext& context) {
  if (!context.routes.empty()) whole.route = context.routes.front();
  const GemmShape shape{.m = whole.m, .n = whole.n, .k = whole.k};
  Gemm share = distributed_gemm(std::move(whole), context.rank, context.ranks, context.transport,
                                context.product.grid);
  if (context.product.shape == shape)
    share.deadline_s =
        std::max(share.deadline_s, patience_s(shape, context.ranks, context.device) / 4);
  return share;
}

}  // namespace tidemark
