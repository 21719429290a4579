// Blocks outside the mask as canaries: the issuer itself, all but one block, and neighbours, with
// boxes that leave little or much of the window unwritten.
#include "suite/case.hpp"
#include "suite/conformance/multicast_row.hpp"
#include "suite/conformance/tile.hpp"

namespace tidemark::suite {
namespace {

std::vector<TileLoad> boxes() {
  TileLoad swizzled = tile(DataType::u8, {384, 19}, {128, 11}, {128, 3});
  swizzled.map.swizzle = Swizzle::b128;
  swizzled.destination_offset = 640;
  return {tile(DataType::u8, {48}, {16}, {16}), tile_of_rank(DataType::u32, 4), swizzled};
}

std::vector<Op> rows(const RunContext&) {
  std::vector<Op> rows;
  for (const TileLoad& box : boxes())
    for (const std::uint32_t size : {4U, 8U})
      for (std::uint32_t issuer = 0; issuer < size; ++issuer) {
        const std::uint32_t all = (1U << size) - 1;
        const std::uint32_t next = 1U << (issuer + 1) % size;
        rows.emplace_back(multicast(box, size, next, issuer));
        rows.emplace_back(multicast(box, size, all & ~next, issuer));
        rows.emplace_back(multicast(box, size, all & ~(1U << issuer), issuer));
        MulticastLoad sliced = multicast(box, size, all & ~(1U << issuer) & ~next, issuer);
        sliced.slices = 2;  // both from outside the mask
        if (refusal_of(sliced) == nullptr) rows.emplace_back(sliced);
      }
  return rows;
}

const Register kCase{{
    .name = "multicast.unmasked",
    .claim = "a block outside the mask gets no byte and no credit, even where it issues the "
             "multicast",
    .cites = "PTX ISA 9.0, 9.7.9.25.5.2 cp.async.bulk.tensor, ctaMask",
    .rows = rows,
}};

}  // namespace
}  // namespace tidemark::suite
