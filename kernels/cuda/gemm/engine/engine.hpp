// The engine of a GPU's own GEMM: its kernels, what a launch is given, and how it is prepared.
#pragma once

#include <cuda.h>
#include <cuda_runtime_api.h>

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "kernels/cuda/buffer.hpp"
#include "kernels/cuda/gemm/engine/configuration.hpp"
#include "kernels/cuda/gemm/engine/pack.hpp"
#include "kernels/cuda/gemm/engine/placement.hpp"
#include "kernels/cuda/gemm/local_gemm.hpp"
#include "kernels/transport.hpp"

namespace tidemark {

// In which order a product takes its tiles while rows of its operands still arrive from other
// ranks, and what each tile waits for.

/// A tile of a cluster, and the shards of either panel that its rows lie in, own ones included: by
/// index, from `first` up to but not including `end`.
struct ArrivingTile {
  std::uint32_t m = 0, n = 0;
  std::uint16_t a_first = 0, a_end = 0, b_first = 0, b_end = 0;

  bool operator==(const ArrivingTile&) const = default;
};
static_assert(sizeof(ArrivingTile) == 16);

/// The word of a shard that is there from the start: one of this rank's own.
inline constexpr std::uint32_t kOwnShard = 0xffffffff;

/// One operand's panel: shards in order of their rows, as require_cover() has them.
struct ArrivingPanel {
  std::span<const Shard> shards;
  std::uint32_t tile_rows = 0;  // of a cluster's tile
  std::uint32_t tiles = 0;
};

/// Every tile once. Those whose rows are all `rank`'s own come first, then those that the next
/// shards complete, where each panel is fetched in fetch_order(), both `at_once` or B behind A.
/// Among tiles that become ready together the order is that of c_tiles.hpp, in groups of `group`.
/// Throws Error where a panel has more shards than an ArrivingTile can count, or shards that are
/// not in order.
std::vector<ArrivingTile> arrival_order(const ArrivingPanel& a, const ArrivingPanel& b,
                                        std::uint32_t rank, std::uint32_t group, bool at_once);

/// What a product knows of rows that other ranks send while it runs.
struct Arrivals {
  const ArrivingTile* order = nullptr;  // all tiles, in device memory
  std::uint32_t own_tiles = 0;          // of them, from the front, that wait for nothing
  std::uint32_t* a = nullptr;           // PanelBuffer::arrived of A; of own shards kOwnShard
  std::uint32_t* b = nullptr;
  unsigned long long* waited_ns = nullptr;  // producers add what they waited for rows
  std::uint32_t bound_us = 0;               // of a wait for rows, in units of 1024 ns
};

/// Which tiles each cluster of a grid multiplies: first so many whole ones, in steps of the grid;
/// the k-blocks of all others are shared out evenly, in order (stream-K).
struct Partition {
  std::uint32_t rounds = 0;      // of whole tiles
  std::uint32_t first_tile = 0;  // of the others
  std::uint32_t share = 0;       // k-blocks a cluster
  std::uint32_t longer = 0;      // clusters, the first ones, that have one more
};

/// Of `tiles` and clusters of a grid.
constexpr Partition whole_tiles(std::uint32_t tiles) {
  return {.rounds = tiles, .first_tile = tiles};
}

/// Stream-K by `clusters`, tiles of `k_blocks`: as many rounds of whole tiles as leave each cluster
/// one tile or more to share out. Whole tiles where each cluster has as many as the others, where
/// there are fewer than clusters, and where 32 bits do not count the k-blocks.
constexpr Partition stream_k(std::uint64_t tiles, std::uint64_t clusters, std::uint64_t k_blocks) {
  if (tiles < clusters || tiles % clusters == 0 || 2 * clusters * k_blocks >= 1ULL << 31)
    return whole_tiles(static_cast<std::uint32_t>(tiles));
  const std::uint64_t rounds = tiles / clusters - 1;
  const std::uint64_t blocks = (tiles - rounds * clusters) * k_blocks;
  return {.rounds = static_cast<std::uint32_t>(rounds),
          .first_tile = static_cast<std::uint32_t>(rounds * clusters),
          .share = static_cast<std::uint32_t>(blocks / clusters),
          .longer = static_cast<std::uint32_t>(blocks % clusters)};
}

/// What an engine kernel is given beside its three tensor maps. What each CTA reads before its
/// first copy stands together at the front: a line of parameters that no CTA of the launch has read
/// yet is waited for (NOTES.md, "Gains in use").
struct EngineProblem {
  void* c = nullptr;  // m rows of n, `ldc` elements apart
  std::uint64_t ldc = 0;
  std::uint32_t* timed_out = nullptr;      // first of EngineWords
  std::uint32_t* shares = nullptr;         // their set of this launch
  std::uint64_t bound_ns = kKernelWaitNs;  // of every wait but those for rows of other ranks
  std::uint32_t m = 0, n = 0;
  std::uint32_t m_tiles = 0,
                n_tiles = 0;   // of a cluster; with `epoch` places of Arrivals::order, by 1
  std::uint32_t k_blocks = 0;  // of 64 (fp8: 128); what lies behind K is zeros
  std::uint32_t last_steps = kStepsOfStage;  // wgmma of the last one; K does not reach further
  std::uint32_t group = 0;
  // Of the gather that goes on meanwhile: arrivals says in which order tiles go and what they wait
  // for; 0: every row is there. As a bool it costs the consumers registers that they do not have.
  std::uint32_t epoch = 0;
  Partition partition{};
  bool stagger = false;
  bool c_by_tma = true;     // rows of C start on 16 bytes; else they go by plain stores
  bool prefetches = false;  // some of what the first tiles read, before the launch before has ended
  bool by_gpc = false;      // gpc_tiles says where clusters begin; else their numbers do
  float alpha = 1, beta = 0;
  float* sums = nullptr;           // EngineWords::sums()
  std::uint32_t* given = nullptr;  // EngineWords::given()
  GpcTiles gpc_tiles{};
  Arrivals arrivals{};
};

/// What the cluster works on, and which part of it is this CTA's.
struct EnginePlace {
  std::uint32_t rank = 0;   // of the CTA in its cluster
  std::uint32_t first = 0;  // tile of the cluster
  std::uint32_t step = 0;   // to its next one: clusters of the grid
};

/// k of a stage.
constexpr std::uint32_t tile_k(GemmElement element) {
  return is_fp8(element) ? kFp8TileK : kEngineTileK;
}

/// EngineProblem::last_steps of a product over `k`, at least 1.
constexpr std::uint32_t last_steps(std::uint64_t k, GemmElement element) {
  const std::uint64_t bytes = ((k - 1) % tile_k(element) + 1) * element_bytes(element);
  return static_cast<std::uint32_t>((bytes + kStepBytes - 1) / kStepBytes);
}

/// A kernel, for what it is made: bf16 operands, both K-major, and C = A B^T, unless `general`.
struct EngineKernel {
  TileShape shape;
  GemmOutput output = GemmOutput::f32;
  const void* kernel = nullptr;
  bool general = false;
  GemmElement element = GemmElement::bf16;
  Major a_major = Major::k, b_major = Major::k;
};

/// Whether `gemm` is no more than that.
constexpr bool is_plain(const LocalGemm& gemm) {
  return gemm.element == GemmElement::bf16 && gemm.a_major == Major::k &&
         gemm.b_major == Major::k && gemm.alpha == 1 && gemm.beta == 0 &&
         gemm.output != GemmOutput::f16;
}

// All kernels there are. Each is a file of the same name.
std::span<const EngineKernel> plain_kernels();
std::span<const EngineKernel> general_bf16_wide_kernels();
std::span<const EngineKernel> general_bf16_ping_pong_kernels();
std::span<const EngineKernel> general_f16_wide_kernels();
std::span<const EngineKernel> general_f16_ping_pong_kernels();
std::span<const EngineKernel> fp8_kernels();
/// The same, together.
std::vector<EngineKernel> engine_kernels();

/// Bytes of the sums of a tile, at most: what a CTA leaves for the next cluster.
inline constexpr std::uint32_t kGivenBytes = 128 * 256 * 4;

/// The words in device memory that launches of the engine leave for each other. The first one tells
/// of a lost wait (timed_out_wait(); 0: none). Two sets follow by which the clusters of a launch
/// share out tiles: how many clusters have taken one, then how many tiles each GPC has given.
/// Launches take the sets in turn, since one may begin while the one before it still runs; the one
/// before that has ended by then (kernel.cuh). Each leaves its set zero. Launches recorded in a
/// graph take the sets in the order in which they are recorded: an even number of them, or the next
/// launch may begin while the graph's last one has its set. 19 MB in all, most of them for the sums
/// of stream-K.
class EngineWords {
 public:
  static constexpr std::uint32_t kSet = 1 + kMostGpcs;
  static constexpr std::uint32_t kGiven = kMostPlacedSms * kEngineConsumerWarps;
  static constexpr std::uint32_t kCount = 1 + 2 * kSet + kGiven;

  EngineWords() = default;
  /// On the current device. Waits for `stream`: a launch that begins early uses the words before
  /// it waits for anything.
  explicit EngineWords(cudaStream_t stream);

  /// As they are made, on `stream`: for whoever goes on with them after a lost wait. A launch that
  /// gave up may have left words of given() that are not zero.
  void clear(cudaStream_t stream) const;

  std::uint32_t* data() const { return words_.as<std::uint32_t>(); }
  /// Of stream-K: kEngineConsumerWarps words a CTA, each of a warp that has left its sums in
  /// sums(). Who takes them leaves zero.
  std::uint32_t* given() const { return data() + 1 + 2 * kSet; }
  /// kGivenBytes a CTA.
  float* sums() const { return sums_.as<float>(); }
  /// The set of the next launch.
  std::uint32_t* set() const { return data() + 1 + (second_ ? kSet : 0); }
  /// A launch has been started with set(). Const as writing to data() is: it is about the words.
  void turn() const { second_ = !second_; }

 private:
  DeviceBuffer words_, sums_;
  mutable bool second_ = false;
};

/// One configuration over one piece of memory, launched any number of times.
struct ReadyEngine {
  CUresult code = CUDA_SUCCESS;  // of the encoder; anything else: a tensor map was refused
  EngineConfiguration configuration;
  const void* kernel = nullptr;
  EngineProblem problem;
  CUtensorMap a_map{}, b_map{}, c_map{};  // the last one only where problem.c_by_tma
  PackedRows a_rows, b_rows;              // what is packed before
  std::uint32_t sm_budget = 0;            // LocalGemm's
  std::uint32_t blocks = 0;               // CTAs
};

/// Bytes of LocalGemm::workspace: room for the operands whose rows do not start on 16 bytes.
std::uint64_t engine_workspace_bytes(const LocalGemm& gemm);

/// What is done about rows that TMA cannot take as they are: "; rows of A and B packed; C
/// stored row by row", or nothing.
std::string pitch_note(const LocalGemm& gemm);

/// Encodes the maps and sizes the grid for the current device. Throws Error where there is no such
/// kernel, where the matrices are too large for 32-bit coordinates, where the workspace is missing,
/// where the configuration does not keep to the SM budget, and where the device cannot hold a
/// cluster of the shape.
ReadyEngine prepare_engine(const EngineConfiguration& configuration, const LocalGemm& gemm);

/// Makes `ready` a product beside the exchange of its panels: its tiles go in the order that
/// `arrivals` has at so many `places`, and wait for the words of EngineProblem::epoch, which the
/// caller sets before each launch. Such a launch does not begin before the one before it has ended,
/// and prefetches nothing: the rows may not be there. Waits inside the kernel last `bound_ns` at
/// most.
void follow_arrivals(ReadyEngine& ready, const Arrivals& arrivals, std::uint32_t places,
                     std::uint64_t bound_ns);

/// The order in which `ready` takes its tiles where `rank` fetches the shards of others meanwhile.
std::vector<ArrivingTile> arrival_order(const ReadyEngine& ready, std::span<const Shard> a,
                                        std::span<const Shard> b, std::uint32_t rank, bool at_once);

/// Launches on `stream`, first what packs rows, where there are any to pack. Launches that have
/// `words` in common run one after the other. A wait inside the kernel that ends by its bound
/// writes the first of them and the kernel ends soon after, C undefined.
void start_engine(const ReadyEngine& ready, const EngineWords& words, cudaStream_t stream);

}  // namespace tidemark
