// A GEMM as data: its problem, and the digests of its result.
#include "kernels/ops/gemm/gemm.hpp"

#include <cstring>
#include <numeric>

#include "kernels/ops/payload.hpp"

namespace tidemark {

std::vector<std::uint64_t> tile_digests(const Gemm& gemm, std::span<const std::uint8_t> bytes) {
  const std::uint64_t rows = gemm.rows.count;
  const std::uint64_t cols = gemm.cols.count;
  const std::uint64_t size = c_element_bytes(gemm.output);
  const std::uint64_t across = (cols + kDigestTile - 1) / kDigestTile;
  std::vector<std::uint64_t> digests(digest_tiles(rows, cols), 0);
  for (std::uint64_t i = 0; i < rows; ++i) {
    const std::uint64_t row = splitmix64(gemm.rows.first + i);
    const std::uint8_t* at = bytes.data() + i * cols * size;
    std::uint64_t* const line = digests.data() + i / kDigestTile * across;
    for (std::uint64_t j = 0; j < cols; ++j, at += size) {
      std::uint32_t bits = 0;  // little endian: two bytes land in the low half
      std::memcpy(&bits, at, size);
      line[j / kDigestTile] +=
          splitmix64(row ^ ((gemm.cols.first + j) << 32 | std::uint64_t{bits}));
    }
  }
  return digests;
}

std::vector<std::uint64_t> told_digests(const Gemm& gemm, std::span<const std::uint8_t> bytes) {
  std::vector<std::uint64_t> digests = tile_digests(gemm, bytes);
  if (gemm.vote) return digests;
  return {std::accumulate(digests.begin(), digests.end(), std::uint64_t{0})};
}

}  // namespace tidemark
