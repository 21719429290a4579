// The boxes of the mismatch cases.
#include "suite/conformance/mismatch.hpp"

#include "suite/conformance/tile.hpp"

namespace tidemark {

std::vector<TileLoad> mismatch_boxes() {
  TileLoad swizzled = tile(DataType::bf16, {192, 21}, {64, 16}, {64, 3});  // 2 KiB
  swizzled.map.swizzle = Swizzle::b128;
  swizzled.destination_offset = 384;
  TileLoad beyond = tile_of_rank(DataType::u32, 2);
  beyond.at = {1024, 1000, 0, 0, 0};
  return {
      tile(DataType::u8, {700}, {256}, {48}),             // rank 1
      tile(DataType::u16, {96, 13}, {32, 8}, {16, 2}),    // rank 2
      in_corner(tile_of_rank(DataType::f32, 3), 5, 1),    // rank 3, over a corner
      swizzled,                                           // a pattern, not at its start
      beyond,                                             // nothing but fill
      tile(DataType::u8, {160, 70}, {128, 64}, {16, 5}),  // 8 KiB, many credits
  };
}

ExpectTx announce(const TileLoad& load, std::uint32_t announced) {
  ExpectTx op;
  op.load = load;
  op.announced = announced;
  return op;
}

ExpectTx announce_exactly(const TileLoad& load) { return announce(load, tile_bytes(load.map)); }

}  // namespace tidemark
