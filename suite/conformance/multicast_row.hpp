// Builds multicasts in few words, so that a case file shows only what it varies.
#pragma once

#include <cstdint>
#include <vector>

#include "kernels/ops/barriers.hpp"
#include "suite/case.hpp"

namespace tidemark {

/// `load` multicast in a cluster of `size` blocks along x.
MulticastLoad multicast(const TileLoad& load, std::uint32_t size, std::uint32_t mask,
                        std::uint32_t issuer);

/// 8 rows of 64 bytes inside a tensor.
TileLoad small_box();

/// Every mask of a cluster of `size` blocks with each of its blocks as the issuer.
std::vector<Op> all_masks_and_issuers(std::uint32_t size);

/// A legal multicast of any box, cluster of up to 8 blocks, mask, issuer, order and number of
/// slices; a function of `seed` alone.
MulticastLoad random_multicast(std::uint64_t seed);

}  // namespace tidemark
