// A GEMM as data: its problem, and the digests of its result.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>
#include <vector>

#include "kernels/ops/gemm/gemm_inputs.hpp"
#include "kernels/transport.hpp"

namespace tidemark {

// The size of a matrix product.

/// C m x n over k.
struct GemmShape {
  std::uint64_t m = 0, n = 0, k = 0;

  friend bool operator==(const GemmShape&, const GemmShape&) = default;
};

// One rank's share of a distributed C = A B: gather the panels, multiply, hand back the block of C.

enum class GemmOutput : std::uint8_t { f32, bf16, f16 };

enum class GemmEngine : std::uint8_t {
  fast,       // CUDA: TMA + mbarrier + wgmma, warp specialized; virtual device: blocked loop
  reference,  // one thread an element, fp32 fused multiply-add in order of k: slow and plain
};

/// A kernel of the ladder: each does the same product with one more of the chip's features than the
/// one before it, so that a fleet that got slower can say by which.
enum class GemmRung : std::uint8_t {
  none,         // no rung: the engine, which chooses tile, cluster and ring by the sizes
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

/// An element of A (`row` of M, `k`) or of B (`row` is its column of N) that is no finite number.
struct PlantedElement {
  GemmOperand operand = GemmOperand::a;
  std::uint64_t row = 0, k = 0;  // of the whole matrix
  NonFinite value = NonFinite::nan;
};

/// C = alpha A B + beta C with A m x k, B k x n, bf16 inputs (gemm_element), fp32 accumulation;
/// alpha 1 and beta 0 if not said. This rank computes C[rows, cols]. Both panels are kept K-major:
/// the A panel is rows.count rows of k elements, the B panel cols.count rows (columns of B) of k
/// elements; rows are padded to 16 bytes where 2 k is not a multiple of 16, and RunResult::note
/// says so. The device makes the shards of `rank` with gemm_element and has `transport` gather the
/// others (panel ids 0 for A, 1 for B). Where the route delivers_beside() the product, they are
/// gathered twice: in a first epoch, and, poisoned again behind a barrier of `everybody`, in a
/// second one, beside which the product runs and waits for the words of that epoch. Without a
/// transport the device makes whole panels itself and ignores the shard lists. Where beta is 0, C
/// is NaN-poisoned before (every byte 0xff), and never read; otherwise it holds
/// gemm_value(GemmOperand::c) in its own type. Its rows are c_row_pitch() apart, the padding behind
/// their last column is 0xff, and it has kGuardBytes of poison on both sides.
/// RunResult::surroundings holds the front guard, the back guard and then the padding of all rows
/// in order, rows.count times c_padding_bytes(): byte i of the guards is poison_byte({seed}, i),
/// each byte of padding 0xff.
struct Gemm {
  std::uint64_t m = 0, n = 0, k = 0;
  Range rows{}, cols{};  // of C, this rank's; either may be empty
  GemmInputs inputs = GemmInputs::normal;
  GemmOutput output = GemmOutput::f32;
  GemmEngine engine = GemmEngine::fast;
  GemmRung rung = GemmRung::none;   // of GemmEngine::fast; the virtual device has no rungs
  std::uint32_t configuration = 0;  // of the engine, where there is no rung: 0 what suits the
                                    // sizes, else number 1, 2, ... of the CUDA device's table, of
                                    // which fp8 has its own; the virtual one has none
  std::uint32_t sm_budget = 0;      // SMs that the engine may take, at least 2; 0: all. Of
                                    // GemmEngine::fast without a rung; the virtual device has none
  std::uint64_t seed = 0;

  // What is_plain() excludes. Not on a rung.
  GemmElement element = GemmElement::bf16;  // of A and B
  Major a_major = Major::k;                 // mn: A is kept as k rows of m elements; over a
                                            // transport it is K-major, and so is B
  Major b_major = Major::k;                 // mn: B is kept as k rows of n elements
  std::uint64_t lda = 0, ldb = 0, ldc = 0;  // elements from row to row, no fewer than a row has;
                                            // 0: the fewest whose rows start on 16 bytes, as over a
                                            // transport; of fp8, lda and ldb are multiples of 16
  float alpha = 1, beta = 0;                // where alpha is 0, A and B are not read

  std::vector<PlantedElement> planted{};  // in place of gemm_element(); not over a transport

  Transport* transport = nullptr;
  PanelRoute route = PanelRoute::nccl;  // that `transport` takes
  std::uint32_t rank = 0;
  std::vector<Shard> a_shards{}, b_shards{};
  std::vector<Shard> everybody{};  // one row a rank: gathered as panel id 2, a barrier before each
                                   // timed run and each gather beside a product
  bool vote = false;               // all ranks compute this block, each on its own, and tell each
                                   // other what every tile of it came to: RunResult::digests;
                                   // without a transport the virtual device plays two others
  double deadline_s = 60;          // bound of every wait for a shard and for the kernel
};

/// A product of which one rank computes all of C.
inline Gemm whole_product(const GemmShape& shape, GemmInputs inputs) {
  return {.m = shape.m,
          .n = shape.n,
          .k = shape.k,
          .rows = {0, shape.m},
          .cols = {0, shape.n},
          .inputs = inputs};
}

/// Whether `gemm` asks for no more than C = A B, all K-major, bf16, packed, rows on 16 bytes:
/// what every rung does.
inline bool is_plain(const Gemm& gemm) {
  return gemm.k != 0 && gemm.element == GemmElement::bf16 && gemm.output != GemmOutput::f16 &&
         gemm.a_major == Major::k && gemm.b_major == Major::k && gemm.lda == 0 && gemm.ldb == 0 &&
         gemm.ldc == 0 && gemm.alpha == 1 && gemm.beta == 0;
}

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

/// The same for a Gemm, which may say how far apart its rows of C are.
inline std::uint64_t c_row_pitch(const Gemm& gemm) {
  return gemm.ldc != 0 ? gemm.ldc * c_element_bytes(gemm.output)
                       : c_row_pitch(gemm.cols.count, gemm.output);
}
inline std::uint64_t c_padding_bytes(const Gemm& gemm) {
  return c_row_pitch(gemm) - gemm.cols.count * c_element_bytes(gemm.output);
}

/// How an operand lies in memory: `rows` rows of `elements`, `pitch` elements apart.
struct OperandLayout {
  std::uint64_t rows = 0, elements = 0, pitch = 0;
};
inline OperandLayout layout_of(const Gemm& gemm, GemmOperand operand) {
  const bool is_a = operand == GemmOperand::a;
  const std::uint64_t indices = is_a ? gemm.rows.count : gemm.cols.count;
  const bool k_major = (is_a ? gemm.a_major : gemm.b_major) == Major::k;
  OperandLayout layout{.rows = k_major ? indices : gemm.k,
                       .elements = k_major ? gemm.k : indices,
                       .pitch = is_a ? gemm.lda : gemm.ldb};
  const std::uint64_t sixteen = 16 / element_bytes(gemm.element);  // bytes, in elements
  if (layout.pitch == 0) layout.pitch = (layout.elements + sixteen - 1) / sixteen * sixteen;
  return layout;
}

/// Where in an operand's memory element (`row`, `k`) of the whole matrix lies, in elements.
inline std::uint64_t element_index(const Gemm& gemm, GemmOperand operand, std::uint64_t row,
                                   std::uint64_t k) {
  const bool is_a = operand == GemmOperand::a;
  const std::uint64_t index = row - (is_a ? gemm.rows : gemm.cols).first;
  const std::uint64_t pitch = layout_of(gemm, operand).pitch;
  const bool k_major = (is_a ? gemm.a_major : gemm.b_major) == Major::k;
  return k_major ? index * pitch + k : k * pitch + index;
}

/// Whether this rank has the element's row, or column.
inline bool is_inside(const Gemm& gemm, const PlantedElement& planted) {
  const Range& range = planted.operand == GemmOperand::a ? gemm.rows : gemm.cols;
  return planted.operand != GemmOperand::c && planted.row >= range.first &&
         planted.row - range.first < range.count && planted.k < gemm.k;
}

/// The same for what fp8 adds: the tensor cores take it K-major only, and rows that start off 16
/// bytes are packed in elements of 16 bits only.
inline std::string_view fp8_refusal(const Gemm& gemm) {
  if (!is_fp8(gemm.element)) return {};
  if (gemm.a_major != Major::k || gemm.b_major != Major::k)
    return "e4m3 and e5m2 are multiplied K-major only: transpose the operand, or take bf16 or fp16";
  if (layout_of(gemm, GemmOperand::a).pitch % 16 != 0)
    return "lda of e4m3 and e5m2 is a multiple of 16: rows that start off 16 bytes are packed for "
           "bf16 and fp16 only";
  if (layout_of(gemm, GemmOperand::b).pitch % 16 != 0)
    return "ldb of e4m3 and e5m2 is a multiple of 16: rows that start off 16 bytes are packed for "
           "bf16 and fp16 only";
  for (const PlantedElement& planted : gemm.planted)
    if (gemm.element == GemmElement::e4m3 && planted.value != NonFinite::nan)
      return "e4m3 has no infinities: plant a NaN, or take e5m2";
  return {};
}

/// Why no device can run `gemm`, or nothing: "lda is shorter than a row of A".
inline std::string_view layout_refusal(const Gemm& gemm) {
  const OperandLayout a = layout_of(gemm, GemmOperand::a);
  const OperandLayout b = layout_of(gemm, GemmOperand::b);
  if (a.pitch < a.elements) return "lda is shorter than a row of A";
  if (b.pitch < b.elements) return "ldb is shorter than a row of B";
  if (gemm.ldc != 0 && gemm.ldc < gemm.cols.count) return "ldc is shorter than a row of C";
  if (gemm.sm_budget == 1)
    return "an SM budget of 1 holds no cluster: give at least 2, or 0 for all";
  if (gemm.sm_budget != 0 && gemm.rung != GemmRung::none)
    return "a rung of the ladder takes all SMs: leave out the budget, or the rung";
  for (const PlantedElement& planted : gemm.planted)
    if (!is_inside(gemm, planted)) return "a planted element lies outside A and B";
  if (const std::string_view refusal = fp8_refusal(gemm); !refusal.empty()) return refusal;
  if (gemm.transport != nullptr && !gemm.planted.empty())
    return "elements are planted where no transport brings others: leave out one of the two";
  if (gemm.transport != nullptr &&
      (gemm.k == 0 || gemm.a_major != Major::k || gemm.b_major != Major::k || gemm.lda != 0 ||
       gemm.ldb != 0 || gemm.ldc != 0))
    return "over a transport packed, K-major panels of at least one k are multiplied";
  if (is_plain(gemm)) return {};
  if (gemm.rung != GemmRung::none && (gemm.lda != 0 || gemm.ldb != 0 || gemm.ldc != 0))
    return "a rung of the ladder takes packed rows that start on 16 bytes: leave out lda, ldb and "
           "ldc, or the rung";
  if (gemm.rung != GemmRung::none) return "a rung of the ladder does C = A B^T with bf16 only";
  return {};
}

// What a product came to, in one word a tile: equal wherever the same elements have the same bits.

/// Rows and columns of a tile that has a digest of its own.
inline constexpr std::uint64_t kDigestTile = 256;

/// Tiles of a block of `rows` x `cols`.
constexpr std::uint64_t digest_tiles(std::uint64_t rows, std::uint64_t cols) {
  return (rows + kDigestTile - 1) / kDigestTile * ((cols + kDigestTile - 1) / kDigestTile);
}

/// The digest of each tile of the rank's block, whose bytes are RunResult::bytes: row by row of
/// tiles. It is the sum, modulo 2^64, of a hash of every element's bits and of where it stands in
/// the whole C, so that the sum over all tiles and ranks does not depend on how C is shared out.
std::vector<std::uint64_t> tile_digests(const Gemm& gemm, std::span<const std::uint8_t> bytes);

/// What this rank tells all others of its block: every tile where Gemm::vote, else one word.
std::vector<std::uint64_t> told_digests(const Gemm& gemm, std::span<const std::uint8_t> bytes);

}  // namespace tidemark
