// The host's half of the engine: finds the kernel, encodes the maps, sizes the grid, launches.
#include "kernels/cuda/gemm/engine/engine.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <limits>
#include <numeric>
#include <utility>

#include "kernels/cuda/check.hpp"
#include "kernels/cuda/encode.hpp"
#include "kernels/cuda/gemm/c_tiles.hpp"
#include "kernels/cuda/gemm/engine/placement.hpp"
#include "kernels/cuda/gemm/ladder/rung.hpp"
#include "kernels/error.hpp"

namespace tidemark {
namespace {

constexpr std::uint64_t tiles_of(std::uint64_t elements, std::uint64_t tile) {
  return (elements + tile - 1) / tile;
}

DataType data_type_of(GemmElement element) {
  if (is_fp8(element)) return DataType::u8;  // a tensor map knows no other 8-bit type
  return element == GemmElement::bf16 ? DataType::bf16 : DataType::f16;
}

DataType data_type_of(GemmOutput output) {
  if (output == GemmOutput::f32) return DataType::f32;
  return output == GemmOutput::bf16 ? DataType::bf16 : DataType::f16;
}

/// One operand as TMA reads it: K-major in boxes of 64 k (fp8: 128) and `rows` indices of M or N,
/// MN-major in boxes of 64 indices and 64 k.
TensorMapSpec loaded_map(const LocalGemm& gemm, Major major, std::uint64_t indices,
                         std::uint64_t pitch, std::uint32_t rows) {
  TensorMapSpec spec{.type = data_type_of(gemm.element),
                     .rank = 2,
                     .extent = {gemm.k, indices},
                     .stride = {pitch * element_bytes(gemm.element)},
                     .box = {tile_k(gemm.element), rows},
                     .swizzle = Swizzle::b128,
                     .l2_promotion = L2Promotion::b128};
  if (major == Major::mn) {
    spec.extent = {indices, gemm.k};
    spec.box = {64, kEngineTileK};
  }
  return spec;
}

/// C as TMA writes it, in boxes of 128 bytes of a row.
TensorMapSpec stored_map(const LocalGemm& gemm) {
  const auto element = static_cast<std::uint32_t>(c_element_bytes(gemm.output));
  return {.type = data_type_of(gemm.output),
          .rank = 2,
          .extent = {gemm.n, gemm.m},
          .stride = {gemm.ldc * element},
          .box = {kStagingRowBytes / element, kStagingRows},
          .swizzle = Swizzle::b128};
}

void add_map(ReadyEngine& ready, CUtensorMap& map, const TensorMapSpec& spec, void* address) {
  const Encoded encoded = encode(spec, address);
  if (ready.code == CUDA_SUCCESS) ready.code = encoded.code;
  map = encoded.map;
}

bool is_for(const EngineKernel& kernel, const TileShape& shape, const LocalGemm& gemm) {
  if (kernel.shape != shape || kernel.output != gemm.output) return false;
  if (is_plain(gemm)) return !kernel.general;
  return kernel.general && kernel.element == gemm.element && kernel.a_major == gemm.a_major &&
         kernel.b_major == gemm.b_major;
}

const void* kernel_for(const EngineConfiguration& configuration, const LocalGemm& gemm) {
  for (const EngineKernel& kernel : engine_kernels())
    if (is_for(kernel, configuration.shape, gemm)) return kernel.kernel;
  throw Error(
      fmt::format("gemm: the engine has no kernel {} for this product", name_of(configuration)));
}

/// Coordinates of TMA are signed 32-bit numbers, and a cluster of tiles may reach past the end.
void require_coordinates(const LocalGemm& gemm, std::uint64_t tiles) {
  constexpr std::uint64_t kMost = (1ULL << 31) - 2048;
  if (gemm.m <= kMost && gemm.n <= kMost && gemm.k <= kMost && tiles <= kMost / 8) return;
  throw Error(
      fmt::format("gemm: a block of {} x {} over k = {} is too large for 32-bit coordinates: use "
                  "more ranks",
                  gemm.m, gemm.n, gemm.k));
}

/// What cudaLaunchKernelExC takes; it points to the attributes, so it stays where it is made.
struct Launch {
  std::array<cudaLaunchAttribute, 2> attributes{};
  cudaLaunchConfig_t config{};

  Launch(const EngineConfiguration& configuration, std::uint32_t blocks, cudaStream_t stream) {
    attributes[0].id = cudaLaunchAttributeClusterDimension;
    attributes[0].val.clusterDim.x = configuration.shape.cluster_m;
    attributes[0].val.clusterDim.y = 1;
    attributes[0].val.clusterDim.z = 1;
    attributes[1].id = cudaLaunchAttributeProgrammaticStreamSerialization;
    attributes[1].val.programmaticStreamSerializationAllowed = configuration.pdl ? 1 : 0;
    config.gridDim = dim3(blocks);
    config.blockDim = dim3(kEngineThreads);
    config.dynamicSmemBytes = shared_bytes(configuration.shape);
    config.stream = stream;
    config.attrs = attributes.data();
    config.numAttrs = configuration.pdl ? 2 : 1;
  }
  Launch(const Launch&) = delete;
  Launch& operator=(const Launch&) = delete;
};

/// How many clusters fit the device at once. Asked for, not reckoned from the SMs: GPCs are uneven,
/// and an SM left over in one cannot join another's.
std::uint64_t clusters_at_once(const EngineConfiguration& configuration, const void* kernel) {
  int device = 0;
  int multiprocessors = 0;
  cuda_check(cudaGetDevice(&device), "ask for the current GPU");
  cuda_check(cudaDeviceGetAttribute(&multiprocessors, cudaDevAttrMultiProcessorCount, device),
             "ask for the number of SMs");
  if (configuration.shape.cluster_m == 1) return static_cast<std::uint64_t>(multiprocessors);
  EngineConfiguration alone = configuration;
  alone.pdl = false;  // says nothing about room
  const Launch launch(alone, configuration.shape.cluster_m, nullptr);
  int clusters = 0;
  cuda_check(cudaOccupancyMaxActiveClusters(&clusters, kernel, &launch.config),
             "ask how many clusters fit");
  if (clusters < 1)
    throw Error(fmt::format("gemm: this GPU cannot hold a cluster of {}", name_of(configuration)));
  return static_cast<std::uint64_t>(clusters);
}

bool c_starts_on_16(const LocalGemm& gemm) {
  return reinterpret_cast<std::uintptr_t>(gemm.c) % 16 == 0 &&
         gemm.ldc * c_element_bytes(gemm.output) % 16 == 0;
}

/// What is packed for others is not for fp8: Gemm's layout_refusal() says so to a person.
void require_readable(const LocalGemm& gemm) {
  if (!is_fp8(gemm.element)) return;
  const auto starts_on_16 = [](const std::byte* base, std::uint64_t pitch) {
    return reinterpret_cast<std::uintptr_t>(base) % 16 == 0 && pitch % 16 == 0;
  };
  if (gemm.a_major != Major::k || gemm.b_major != Major::k || !starts_on_16(gemm.a, gemm.pitch) ||
      !starts_on_16(gemm.b, gemm.pitch_of_b()))
    throw Error("gemm: operands of e4m3 and e5m2 are K-major, with rows that start on 16 bytes");
}

/// `gemm` as TMA reads it: operands that it cannot read are where they will be packed to.
LocalGemm pack_into_workspace(const LocalGemm& gemm, PackedRows& a, PackedRows& b) {
  if (engine_workspace_bytes(gemm) != 0 && gemm.workspace == nullptr)
    throw Error("gemm: rows of A or B start off 16 bytes, and there is no workspace to pack them");
  LocalGemm readable = gemm;
  readable.b_pitch = gemm.pitch_of_b();
  a = packed_rows(gemm, GemmOperand::a);
  b = packed_rows(gemm, GemmOperand::b);
  if (a.rows != 0) {
    a.to = readable.a = gemm.workspace;
    readable.pitch = a.to_pitch;
  }
  if (b.rows != 0) {
    b.to = readable.b = gemm.workspace + bytes_of(a);
    readable.b_pitch = b.to_pitch;
  }
  return readable;
}

/// SMs of most GPCs of a chip with 132; some have 18.
constexpr std::uint32_t kCtasOfGpc = 16;

/// Clusters of a GPC begin with neighboring tiles, where the launch has all SMs to itself.
void place_by_gpc(std::uint32_t clusters, ReadyEngine& ready) {
  const EngineConfiguration& configuration = ready.configuration;
  if (configuration.gpc_rows == 0 || ready.sm_budget != 0) return;
  const std::uint32_t ctas = configuration.shape.cluster_m;
  EngineProblem& p = ready.problem;
  p.gpc_tiles = gpc_tiles(gpcs_of_device(ctas), clusters, std::min(p.group, p.m_tiles),
                          {.rows = configuration.gpc_rows, .clusters = kCtasOfGpc / ctas});
  p.by_gpc = p.gpc_tiles.gpcs != 0;
}

/// A launch that begins early is beside the one before it, and stream-K takes all SMs.
void require_within(const EngineConfiguration& configuration, std::uint32_t sm_budget) {
  if (sm_budget == 0) return;
  if (configuration.stream_k || configuration.pdl || configuration.shape.cluster_m > sm_budget)
    throw Error(
        fmt::format("gemm: {} cannot keep to {} SMs: take what chosen_configuration() names",
                    name_of(configuration), sm_budget));
}

/// Sizes the grid and says which tiles its clusters multiply. A CTA has an SM to itself, since its
/// ring leaves room for no other.
void partition_tiles(ReadyEngine& ready) {
  const EngineConfiguration& configuration = ready.configuration;
  const std::uint32_t ctas = configuration.shape.cluster_m;
  EngineProblem& p = ready.problem;
  const std::uint64_t tiles = std::uint64_t{p.m_tiles} * p.n_tiles;
  std::uint64_t most = clusters_at_once(configuration, ready.kernel);
  if (ready.sm_budget != 0) most = std::min<std::uint64_t>(most, ready.sm_budget / ctas);
  p.partition = configuration.stream_k ? stream_k(tiles, most, p.k_blocks)
                                       : whole_tiles(static_cast<std::uint32_t>(tiles));
  const std::uint64_t clusters =
      p.partition.share != 0 ? most : even_blocks(tiles, static_cast<std::uint32_t>(most));
  ready.blocks = static_cast<std::uint32_t>(clusters) * ctas;
  if (configuration.stream_k && ready.blocks > kMostPlacedSms)
    throw Error(fmt::format("gemm: {}: there is room for the sums of {} CTAs, and this GPU has {}",
                            name_of(configuration), kMostPlacedSms, ready.blocks));
  place_by_gpc(static_cast<std::uint32_t>(clusters), ready);
}

}  // namespace

EngineWords::EngineWords(cudaStream_t stream)
    : words_(kCount * sizeof(std::uint32_t)), sums_(std::size_t{kMostPlacedSms} * kGivenBytes) {
  clear(stream);
  cuda_check(cudaStreamSynchronize(stream), "clear the words of a launch");
}

void EngineWords::clear(cudaStream_t stream) const {
  cuda_check(cudaMemsetAsync(words_.data(), 0, words_.size(), stream),
             "clear the words of a launch");
}

std::vector<EngineKernel> engine_kernels() {
  std::vector<EngineKernel> all;
  for (const auto kernels :
       {plain_kernels(), general_bf16_wide_kernels(), general_bf16_ping_pong_kernels(),
        general_f16_wide_kernels(), general_f16_ping_pong_kernels(), fp8_kernels()})
    all.insert(all.end(), kernels.begin(), kernels.end());
  return all;
}

std::uint64_t engine_workspace_bytes(const LocalGemm& gemm) {
  return bytes_of(packed_rows(gemm, GemmOperand::a)) + bytes_of(packed_rows(gemm, GemmOperand::b));
}

std::string pitch_note(const LocalGemm& gemm) {
  const bool a = packed_rows(gemm, GemmOperand::a).rows != 0;
  const bool b = packed_rows(gemm, GemmOperand::b).rows != 0;
  std::string note;
  if (a || b) note = fmt::format("; rows of {} packed", a && b ? "A and B" : a ? "A" : "B");
  if (!c_starts_on_16(gemm)) note += "; C stored row by row";
  return note;
}

ReadyEngine prepare_engine(const EngineConfiguration& configuration, const LocalGemm& gemm) {
  const TileShape& shape = configuration.shape;
  require_readable(gemm);
  require_within(configuration, gemm.sm_budget);
  ReadyEngine ready;
  ready.configuration = configuration;
  ready.sm_budget = gemm.sm_budget;
  ready.kernel = kernel_for(configuration, gemm);
  const std::uint64_t m_tiles = tiles_of(gemm.m, std::uint64_t{shape.tile_m} * shape.cluster_m);
  const std::uint64_t n_tiles = tiles_of(gemm.n, shape.tile_n);
  require_coordinates(gemm, m_tiles * n_tiles);
  ready.problem = {.c = gemm.c,
                   .ldc = gemm.ldc,
                   .m = static_cast<std::uint32_t>(gemm.m),
                   .n = static_cast<std::uint32_t>(gemm.n),
                   .m_tiles = static_cast<std::uint32_t>(m_tiles),
                   .n_tiles = static_cast<std::uint32_t>(n_tiles),
                   .k_blocks = static_cast<std::uint32_t>(tiles_of(gemm.k, tile_k(gemm.element))),
                   .last_steps = last_steps(gemm.k, gemm.element),
                   .group = configuration.group,
                   .stagger = configuration.stagger,
                   .c_by_tma = c_starts_on_16(gemm),
                   // What is packed is not there yet.
                   .prefetches = configuration.pdl && engine_workspace_bytes(gemm) == 0,
                   .alpha = gemm.alpha,
                   .beta = gemm.beta};
  const LocalGemm readable = pack_into_workspace(gemm, ready.a_rows, ready.b_rows);
  add_map(ready, ready.a_map,
          loaded_map(readable, gemm.a_major, gemm.m, readable.pitch, shape.tile_m), readable.a);
  add_map(ready, ready.b_map,
          loaded_map(readable, gemm.b_major, gemm.n, readable.b_pitch, slice_n(shape)), readable.b);
  if (ready.problem.c_by_tma) add_map(ready, ready.c_map, stored_map(gemm), gemm.c);
  cuda_check(cudaFuncSetAttribute(ready.kernel, cudaFuncAttributeMaxDynamicSharedMemorySize,
                                  static_cast<int>(shared_bytes(shape))),
             "give the engine's kernel its shared memory");
  partition_tiles(ready);
  return ready;
}

void follow_arrivals(ReadyEngine& ready, const Arrivals& arrivals, std::uint32_t places,
                     std::uint64_t bound_ns) {
  if (ready.configuration.stream_k)
    throw Error(fmt::format("gemm: {} cannot follow arrivals: its tiles are shared out by K",
                            name_of(ready.configuration)));
  if (ready.a_rows.rows != 0 || ready.b_rows.rows != 0)
    throw Error("gemm: rows that are packed before a GEMM cannot arrive while it runs");
  ready.problem.bound_ns = bound_ns;
  // What the kernel walks along: where tiles lie in C, the order says.
  ready.problem.m_tiles = places;
  ready.problem.n_tiles = 1;
  ready.problem.partition = whole_tiles(places);
  ready.problem.arrivals = arrivals;
  ready.problem.prefetches = false;
  ready.configuration.pdl = false;
}

std::vector<ArrivingTile> arrival_order(const ReadyEngine& ready, std::span<const Shard> a,
                                        std::span<const Shard> b, std::uint32_t rank,
                                        bool at_once) {
  const TileShape& shape = ready.configuration.shape;
  const EngineProblem& p = ready.problem;
  return arrival_order(
      {.shards = a, .tile_rows = shape.tile_m * shape.cluster_m, .tiles = p.m_tiles},
      {.shards = b, .tile_rows = shape.tile_n, .tiles = p.n_tiles}, rank, p.group, at_once);
}

void start_engine(const ReadyEngine& ready, const EngineWords& words, cudaStream_t stream) {
  EngineProblem problem = ready.problem;
  problem.timed_out = words.data();
  problem.shares = words.set();
  problem.sums = words.sums();
  problem.given = words.given();
  void* arguments[] = {const_cast<CUtensorMap*>(&ready.a_map),
                       const_cast<CUtensorMap*>(&ready.b_map),
                       const_cast<CUtensorMap*>(&ready.c_map), &problem};
  const Launch launch(ready.configuration, ready.blocks, stream);
  launch_pack(ready.a_rows, ready.b_rows, ready.sm_budget, stream);
  cuda_check(cudaLaunchKernelExC(&launch.config, ready.kernel, arguments),
             "launch a kernel of the GEMM engine");
  words.turn();
}

// Sorts tiles by when the last of their rows arrives.

namespace {

/// The shards of one row of tiles, and how many rows of the panel are fetched until all are there.
struct TileArrival {
  std::uint16_t first = 0, end = 0;
  std::uint64_t fetched = 0;
};

void require_countable(const ArrivingPanel& panel) {
  if (panel.shards.size() > std::numeric_limits<std::uint16_t>::max())
    throw Error(fmt::format("gemm: a panel of {} shards: the engine waits for at most 65535",
                            panel.shards.size()));
  if (!std::is_sorted(
          panel.shards.begin(), panel.shards.end(),
          [](const Shard& left, const Shard& right) { return left.first_row < right.first_row; }))
    throw Error("gemm: the shards of a panel are not in order of their rows");
}

/// `rows` is how many of both panels are fetched before, and then behind this one.
std::vector<TileArrival> arrivals_of(const ArrivingPanel& panel, std::uint32_t rank,
                                     std::uint64_t& rows) {
  require_countable(panel);
  std::vector<std::uint64_t> fetched(panel.shards.size(), 0);
  for (const std::size_t index : fetch_order(panel.shards, rank))
    fetched[index] = rows += panel.shards[index].rows;
  std::vector<TileArrival> arrivals(panel.tiles);
  std::size_t first = 0;
  for (std::uint32_t tile = 0; tile < panel.tiles; ++tile) {
    const std::uint64_t begin = std::uint64_t{tile} * panel.tile_rows;
    const std::uint64_t end = begin + panel.tile_rows;
    const auto ends_before = [&](std::size_t i) {
      return panel.shards[i].first_row + panel.shards[i].rows <= begin;
    };
    while (first < panel.shards.size() && ends_before(first)) ++first;
    std::size_t last = first;
    TileArrival& arrival = arrivals[tile];
    while (last < panel.shards.size() && panel.shards[last].first_row < end)
      arrival.fetched = std::max(arrival.fetched, fetched[last++]);
    arrival.first = static_cast<std::uint16_t>(first);
    arrival.end = static_cast<std::uint16_t>(last);
  }
  return arrivals;
}

}  // namespace

std::vector<ArrivingTile> arrival_order(const ArrivingPanel& a, const ArrivingPanel& b,
                                        std::uint32_t rank, std::uint32_t group, bool at_once) {
  std::uint64_t before = 0;
  const std::vector<TileArrival> rows = arrivals_of(a, rank, before);
  if (at_once) before = 0;
  const std::vector<TileArrival> columns = arrivals_of(b, rank, before);
  std::vector<std::pair<std::uint64_t, ArrivingTile>> tiles;
  tiles.reserve(std::size_t{a.tiles} * b.tiles);
  for (std::uint32_t index = 0; index < a.tiles * b.tiles; ++index) {
    const TileAt at = tile_at(index, a.tiles, b.tiles, group);
    const TileArrival& row = rows[at.m];
    const TileArrival& column = columns[at.n];
    tiles.push_back({std::max(row.fetched, column.fetched),
                     {.m = at.m,
                      .n = at.n,
                      .a_first = row.first,
                      .a_end = row.end,
                      .b_first = column.first,
                      .b_end = column.end}});
  }
  // Stable: the raster's order stays among tiles that become ready together.
  std::stable_sort(tiles.begin(), tiles.end(),
                   [](const auto& left, const auto& right) { return left.first < right.first; });
  std::vector<ArrivingTile> order;
  order.reserve(tiles.size());
  for (const auto& [fetched, tile] : tiles) order.push_back(tile);
  return order;
}

}  // namespace tidemark
