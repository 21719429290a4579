// Clusters along x, along y, along z, and in two and three dimensions: the bit of a block is its
// rank in the cluster.
#include <array>

#include "suite/case.hpp"
#include "suite/conformance/multicast_row.hpp"

namespace tidemark::suite {
namespace {

constexpr std::array<std::array<std::uint32_t, 3>, 10> kShapes{{{4, 1, 1},
                                                                {1, 4, 1},
                                                                {1, 1, 4},
                                                                {2, 2, 1},
                                                                {1, 2, 2},
                                                                {8, 1, 1},
                                                                {1, 8, 1},
                                                                {1, 1, 8},
                                                                {2, 2, 2},
                                                                {4, 1, 2}}};

std::vector<Op> rows(const RunContext&) {
  std::vector<Op> rows;
  for (const auto& shape : kShapes) {
    const std::uint32_t size = shape[0] * shape[1] * shape[2];
    const auto add = [&](std::uint32_t mask, std::uint32_t issuer) {
      MulticastLoad row = multicast(small_box(), size, mask, issuer);
      row.cluster = shape;
      rows.emplace_back(row);
    };
    for (std::uint32_t rank = 0; rank < size; ++rank) add(1U << rank, (rank + 1) % size);
    add((1U << size) - 1, size - 1);
    add(3U, size / 2);
    add(5U << (size - 4), 0);
  }
  return rows;
}

const Register kCase{{
    .name = "multicast.shape",
    .claim = "bit i of the mask is the block of rank i in the cluster, whatever the shape of the "
             "cluster",
    .cites = "PTX ISA 9.0, 9.7.9.25.5.2 cp.async.bulk.tensor, ctaMask; 10 special registers, "
             "%cluster_ctarank",
    .rows = rows,
}};

}  // namespace
}  // namespace tidemark::suite
