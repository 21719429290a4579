// A cluster of sixteen blocks, which a GPU need not be able to start: single blocks, halves,
// alternations and all of them. Where it cannot, this case is skipped.
#include "suite/case.hpp"
#include "suite/conformance/multicast_row.hpp"

namespace tidemark::suite {
namespace {

constexpr std::uint32_t kSize = 16;

std::vector<Op> rows(const RunContext&) {
  std::vector<Op> rows;
  for (std::uint32_t rank = 0; rank < kSize; ++rank) {
    rows.emplace_back(multicast(small_box(), kSize, 1U << rank, (rank + 5) % kSize));
    rows.emplace_back(multicast(small_box(), kSize, 0xffffU ^ (1U << rank), rank));
  }
  const auto masks = {0xffffU, 0xff00U, 0x00ffU, 0xaaaaU, 0x5555U, 0x8001U, 0x0ff0U, 0x7c3eU};
  for (const std::uint32_t mask : masks)
    rows.emplace_back(multicast(small_box(), kSize, mask, mask % 15));
  return rows;
}

const Register kCase{{
    .name = "multicast.cluster16",
    .claim =
        "where a GPU can start a cluster of sixteen blocks, each bit of the 16-bit mask serves "
        "one of them",
    .cites = "PTX ISA 9.0, 9.7.9.25.5.2 cp.async.bulk.tensor, ctaMask; CUDA C++ Programming Guide, "
             "thread block clusters, cudaFuncAttributeNonPortableClusterSizeAllowed",
    .rows = rows,
}};

}  // namespace
}  // namespace tidemark::suite
