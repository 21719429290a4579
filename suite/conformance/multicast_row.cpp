// Multicasts: legal by construction.
#include "suite/conformance/multicast_row.hpp"

#include <array>

#include "suite/conformance/tile.hpp"

namespace tidemark {

MulticastLoad multicast(const TileLoad& load, std::uint32_t size, std::uint32_t mask,
                        std::uint32_t issuer) {
  return {.load = load,
          .cluster = {size, 1, 1},
          .mask = static_cast<std::uint16_t>(mask),
          .issuer = issuer};
}

TileLoad small_box() { return tile(DataType::u16, {88, 13}, {32, 8}, {16, 3}); }

std::vector<Op> all_masks_and_issuers(std::uint32_t size) {
  std::vector<Op> rows;
  for (std::uint32_t mask = 1; mask < 1U << size; ++mask)
    for (std::uint32_t issuer = 0; issuer < size; ++issuer)
      rows.emplace_back(multicast(small_box(), size, mask, issuer));
  return rows;
}

MulticastLoad random_multicast(std::uint64_t seed) {
  constexpr std::array<std::array<std::uint32_t, 3>, 8> kClusters{
      {{2, 1, 1}, {4, 1, 1}, {8, 1, 1}, {1, 2, 1}, {1, 4, 2}, {2, 2, 1}, {2, 2, 2}, {1, 1, 8}}};
  auto draw = [seed, at = std::uint64_t{0}](std::uint32_t bound) mutable {
    return static_cast<std::uint32_t>(splitmix64(~seed + at++) % bound);
  };
  MulticastLoad drawn{.load = random_tile(seed), .cluster = kClusters[draw(8)]};
  const std::uint32_t size = cluster_size(drawn);
  drawn.mask = static_cast<std::uint16_t>(1 + draw((1U << size) - 1));
  drawn.issuer = draw(size);
  drawn.late_arm = draw(4) == 0;
  if (draw(2) == 0) {
    drawn.slices = size;
    while (drawn.slices > 1 && refusal_of(drawn) != nullptr) drawn.slices /= 2;
  }
  return drawn;
}

}  // namespace tidemark
