// The engine of a GPU's own product: kernels of many tile shapes, what else can be chosen about a
// launch, and the configurations that are worth choosing from.
#pragma once

#include <cuda.h>
#include <cuda_runtime_api.h>

#include <array>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "kernels/cuda/gemm/engine/arrivals.hpp"
#include "kernels/cuda/gemm/engine/configuration.hpp"
#include "kernels/cuda/gemm/engine/pack/pack.hpp"
#include "kernels/cuda/gemm/engine/placement.hpp"
#include "kernels/cuda/gemm/engine/shared_out.hpp"
#include "kernels/cuda/gemm/engine/tile_shape.hpp"
#include "kernels/cuda/gemm/engine/words.hpp"
#include "kernels/cuda/gemm/local_gemm.hpp"

namespace tidemark::kernels {

/// What a product knows of rows that other ranks send while it runs.
struct Arrivals {
  const ArrivingTile* order = nullptr;  // all tiles, in device memory
  std::uint32_t own_tiles = 0;          // of them, from the front, that wait for nothing
  std::uint32_t* a = nullptr;           // PanelBuffer::arrived of A; of own shards kOwnShard
  std::uint32_t* b = nullptr;
  unsigned long long* waited_ns = nullptr;  // producers add what they waited for rows
  std::uint32_t bound_us = 0;               // of a wait for rows, in units of 1024 ns
};

/// What an engine kernel is given beside its three tensor maps. What each block reads before its
/// first copy stands together at the front: a line of parameters that no block of the launch has
/// read yet is waited for (NOTES.md, "Launches of a few microseconds").
struct EngineProblem {
  void* c = nullptr;  // m rows of n, `ldc` elements apart
  std::uint64_t ldc = 0;
  std::uint32_t* timed_out = nullptr;      // first of EngineWords
  std::uint32_t* shares = nullptr;         // their set of this launch
  std::uint64_t bound_ns = kKernelWaitNs;  // of every wait but those for rows of other ranks
  std::uint32_t m = 0, n = 0;
  std::uint32_t m_tiles = 0,
                n_tiles = 0;   // of a cluster; with `epoch` places of Arrivals::order, by 1
  std::uint32_t k_blocks = 0;  // of 64 (fp8: 128), for each part of K; what lies behind K is zeros
  std::uint32_t last_steps = kStepsOfStage;  // wgmma of the last block; K does not reach further
  std::uint32_t group = 0, lead = 0;
  // Of the gather that goes on meanwhile: arrivals says in which order tiles go and what they wait
  // for; 0: every row is there. As a bool it costs the consumers registers that they do not have.
  std::uint32_t epoch = 0;
  bool group_along_n = false, streams_c = false, keeps = false;
  bool c_by_tma = true;     // rows of C start on 16 bytes; else they go by plain stores
  bool packs = false;       // some rows of `ahead` beside the product; else no block looks there
  bool prefetches = false;  // some of what the first tiles read, before the launch before has ended
  bool by_gpc = false;      // gpc_tiles says where clusters begin; else their numbers do
  float alpha = 1, beta = 0;
  SharedOut shared_out{};            // with TileShape::stream_k
  float* sums = nullptr;             // EngineWords::sums()
  std::uint32_t* given = nullptr;    // EngineWords::given()
  std::array<RowsAhead, 2> ahead{};  // of A and B: what is packed before and beside the product
  GpcTiles gpc_tiles{};
  Arrivals arrivals{};
};

/// What the cluster works on, and which part of it is this block's.
struct EnginePlace {
  ClusterPlace in_cluster;
  std::uint32_t first = 0;  // tile of the cluster
  std::uint32_t step = 0;   // to its next one
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
std::span<const EngineKernel> wide_kernels();
std::span<const EngineKernel> split_kernels();
std::span<const EngineKernel> turn_kernels();
std::span<const EngineKernel> general_bf16_kernels();
std::span<const EngineKernel> general_f16_kernels();
std::span<const EngineKernel> general_fp8_kernels();

/// Of whole tiles: the shape of general kernels of 16-bit operands.
inline constexpr TileShape kGeneralShape{.tile_m = 128, .tile_n = 256, .cluster_m = 2};

/// One configuration over one piece of memory, launched any number of times.
struct ReadyEngine {
  CUresult code = CUDA_SUCCESS;  // of the encoder; anything else: a tensor map was refused
  EngineConfiguration configuration;
  const void* kernel = nullptr;
  EngineProblem problem;
  CUtensorMap a_map{}, b_map{}, c_map{};  // the last one only where problem.c_by_tma
  std::uint32_t sm_budget = 0;            // LocalGemm's
  std::uint32_t blocks = 0;
  std::uint32_t most_clusters = 0;  // that run at once
};

/// Bytes of LocalGemm::workspace: room for the operands whose rows do not start on 16 bytes, and
/// for the words by which they are handed over.
std::uint64_t engine_workspace_bytes(const LocalGemm& gemm);

/// What is done about rows that TMA cannot take as they are: "; rows of A and B packed; C
/// stored row by row", or nothing.
std::string pitch_note(const LocalGemm& gemm);

/// Encodes the maps and sizes the grid for the current device. Throws Error where there is no such
/// kernel, where the block is too large for 32-bit coordinates, where the lead is not below the
/// number of stages, where the workspace is missing, where the configuration does not keep to the
/// SM budget, and where the device cannot hold a cluster of the shape.
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

/// Launches on `stream`: first what packs rows, where there are any to pack: those that the first
/// tiles read. The engine's idle warps pack the others. Launches that have `words` in common run
/// one after the other. A wait inside the kernel that ends by its bound writes the first of them
/// and the kernel ends soon after, C undefined; rows that are packed beside it are packed to the
/// end.
void start_engine(const ReadyEngine& ready, const EngineWords& words, cudaStream_t stream);

}  // namespace tidemark::kernels
