// One rank's share of a distributed C = A B: gather the panels, multiply, hand back the block of C.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string_view>
#include <vector>

#include "kernels/ops/gemm_inputs.hpp"
#include "kernels/transport.hpp"

namespace tidemark {

enum class GemmOutput : std::uint8_t { f32, bf16 };

enum class GemmEngine : std::uint8_t {
  fast,       // CUDA: TMA + mbarrier + wgmma, warp specialized; virtual device: blocked loop
  reference,  // one thread an element, fp32 fused multiply-add in order of k: slow and plain
};

/// A kernel of the ladder: each does the same product with one more of the chip's features than the
/// one before it, so that a fleet that got slower can say by which.
enum class GemmRung : std::uint8_t {
  none,         // what the engine takes by itself: the top one
  thread_copy,  // threads copy tiles through registers, CUDA cores multiply
  cp_async,     // cp.async copies, three stages
  tma_wgmma,    // TMA copies 64 x 64 tiles, tensor cores multiply
  ring,         // producer and consumers around a ring of stages, 128 x 128
  wide_tile,    // 128 x 256, registers moved from producer to consumers
  persistent,   // a block takes tile after tile
  multicast,    // pairs of blocks share tiles of B
  tma_store,    // C leaves by TMA while the next tile is multiplied, in an order that suits L2
};
inline constexpr GemmRung kGemmRungs[] = {
    GemmRung::thread_copy, GemmRung::cp_async,   GemmRung::tma_wgmma, GemmRung::ring,
    GemmRung::wide_tile,   GemmRung::persistent, GemmRung::multicast, GemmRung::tma_store};

constexpr std::string_view name_of(GemmRung rung) {
  constexpr std::string_view kNames[] = {"none",       "thread_copy", "cp_async",
                                         "tma_wgmma",  "ring",        "wide_tile",
                                         "persistent", "multicast",   "tma_store"};
  return kNames[static_cast<std::size_t>(rung)];
}

/// A block of the whole matrix.
struct Range {
  std::uint64_t first = 0;
  std::uint64_t count = 0;
};

/// C = A B with A m x k, B k x n, bf16 inputs (gemm_element), fp32 accumulation. This rank computes
/// C[rows, cols]. Both panels are kept K-major: the A panel is rows.count rows of k elements, the B
/// panel cols.count rows (columns of B) of k elements; rows are padded to 16 bytes where 2 k is not
/// a multiple of 16, and RunResult::note says so. The device makes the shards of `rank` with
/// gemm_element and has `transport` gather the others (panel ids 0 for A, 1 for B). Without a
/// transport it makes whole panels itself and ignores the shard lists.
/// C is NaN-poisoned before (every byte 0xff), its rows c_row_pitch() apart, the padding behind
/// their last column included, and has kGuardBytes of poison on both sides. RunResult::surroundings
/// holds the front guard, the back guard and then the padding of all rows in order, rows.count
/// times c_padding_bytes(): byte i of the guards is poison_byte({seed}, i), each byte of padding
/// 0xff.
struct Gemm {
  std::uint64_t m = 0, n = 0, k = 0;
  Range rows{}, cols{};  // of C, this rank's; either may be empty
  GemmInputs inputs = GemmInputs::normal;
  GemmOutput output = GemmOutput::f32;
  GemmEngine engine = GemmEngine::fast;
  GemmRung rung = GemmRung::none;  // of GemmEngine::fast; the virtual device has no rungs
  std::uint64_t seed = 0;

  Transport* transport = nullptr;
  std::uint32_t rank = 0;
  std::vector<Shard> a_shards{}, b_shards{};
  std::vector<Shard>
      everybody{};  // one row a rank: gathered as panel id 2, a barrier before each timed run
  double deadline_s = 60;  // bound of every wait for a shard and for the kernel
};

constexpr std::uint64_t c_element_bytes(GemmOutput output) {
  return output == GemmOutput::f32 ? 4 : 2;
}

/// Bytes from one row of C, `cols` elements wide, to the next: the row's own, rounded up to 16, so
/// that every row starts where an engine may store 16 bytes at once.
constexpr std::uint64_t c_row_pitch(std::uint64_t cols, GemmOutput output) {
  return (cols * c_element_bytes(output) + 15) / 16 * 16;
}

/// Bytes between the last column of a row of C and the start of the next.
constexpr std::uint64_t c_padding_bytes(std::uint64_t cols, GemmOutput output) {
  return c_row_pitch(cols, output) - cols * c_element_bytes(output);
}
static_assert(c_row_pitch(5, GemmOutput::f32) == 32 && c_padding_bytes(5, GemmOutput::f32) == 12);
static_assert(c_row_pitch(8, GemmOutput::bf16) == 16 && c_padding_bytes(8, GemmOutput::bf16) == 0);

}  // namespace tidemark
