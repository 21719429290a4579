// Decides which operands TMA cannot read as they are, and how much of them is packed first.
#include "kernels/cuda/gemm/engine/pack/pack.hpp"

#include <algorithm>

namespace tidemark::kernels {
namespace {

constexpr std::uint64_t kRowElements = 64;  // 128 bytes: a line of L2, a span of the swizzle

bool starts_on_16(const std::byte* base, std::uint64_t pitch) {
  return reinterpret_cast<std::uintptr_t>(base) % 16 == 0 &&
         pitch * sizeof(std::uint16_t) % 16 == 0;
}

}  // namespace

PackedRows packed_rows(const LocalGemm& gemm, GemmOperand operand) {
  const bool is_a = operand == GemmOperand::a;
  const std::byte* const from = is_a ? gemm.a : gemm.b;
  const std::uint64_t pitch = is_a ? gemm.pitch : gemm.pitch_of_b();
  if (is_fp8(gemm.element) || starts_on_16(from, pitch)) return {};
  const bool k_major = (is_a ? gemm.a_major : gemm.b_major) == Major::k;
  const std::uint64_t indices = is_a ? gemm.m : gemm.n;
  PackedRows packed{.from = from,
                    .rows = k_major ? indices : gemm.k,
                    .elements = k_major ? gemm.k : indices,
                    .from_pitch = pitch};
  packed.to_pitch = (packed.elements + kRowElements - 1) / kRowElements * kRowElements;
  return packed;
}

std::uint64_t ahead_bytes(const std::array<PackedRows, 2>& packed) {
  std::uint64_t words = 2;  // `taken` of either
  for (const PackedRows& rows : packed) words += (rows.rows + kBandRows - 1) / kBandRows;
  if (packed[0].rows == 0 && packed[1].rows == 0) return 0;
  return (words * sizeof(std::uint32_t) + 127) / 128 * 128;
}

FirstRows first_rows(const TileGrid& grid, std::uint32_t clusters) {
  const std::uint64_t grouped_tiles = grid.group_along_n ? grid.n_tiles : grid.m_tiles;
  const std::uint64_t swept_tiles = grid.group_along_n ? grid.m_tiles : grid.n_tiles;
  const std::uint64_t group = std::min<std::uint64_t>(grid.group, grouped_tiles);
  const std::uint64_t groups = (clusters + group * swept_tiles - 1) / (group * swept_tiles);
  const std::uint64_t grouped = std::min(groups * group, grouped_tiles);
  const std::uint64_t swept =
      groups > 1 ? swept_tiles : std::min((clusters + group - 1) / group, swept_tiles);
  if (grid.group_along_n) return {.a = swept * grid.m_rows, .b = grouped * grid.n_rows};
  return {.a = grouped * grid.m_rows, .b = swept * grid.n_rows};
}

}  // namespace tidemark::kernels
