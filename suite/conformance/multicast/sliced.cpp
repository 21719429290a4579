// A box that several blocks share: each multicasts one slice of it to all, and each barrier
// completes when all slices have come.
#include "suite/case.hpp"
#include "suite/conformance/multicast_row.hpp"
#include "suite/conformance/tile.hpp"

namespace tidemark::suite {
namespace {

// 16 rows of 64 bytes in two or three dimensions, plain or swizzled. Each extent differs.
std::vector<TileLoad> boxes() {
  TileLoad swizzled = tile(DataType::bf16, {96, 21}, {32, 16}, {32, 2});
  swizzled.map.swizzle = Swizzle::b64;
  swizzled.destination_offset = 384;
  TileLoad strided = tile(DataType::u32, {24, 5, 23}, {16, 2, 16}, {4, 1, 3});
  strided.map.element_stride[2] = 2;
  return {tile(DataType::u8, {112, 19}, {64, 16}, {16, 2}), swizzled, strided,
          tile(DataType::f32, {20, 18}, {16, 16}, {8, 7})};
}

std::vector<Op> rows(const RunContext&) {
  std::vector<Op> rows;
  for (const TileLoad& box : boxes())
    for (const std::uint32_t size : {2U, 4U, 8U})
      for (std::uint32_t slices = 2; slices <= size; slices *= 2)
        for (const bool late : {false, true}) {
          const std::uint32_t all = (1U << size) - 1;
          MulticastLoad row = multicast(box, size, all, 0);
          row.slices = slices;
          row.late_arm = late;
          rows.emplace_back(row);
          row.mask = static_cast<std::uint16_t>(all & ~1U);  // slice 0 comes from outside the mask
          row.issuer = late ? size - 1 : 0;
          rows.emplace_back(row);
          row.mask = static_cast<std::uint16_t>(all >> 1);  // without the last block
          if (!late) rows.emplace_back(row);
        }
  return rows;
}

const Register kCase{{
    .name = "multicast.sliced",
    .claim = "slices that different blocks multicast arrive each in its place in every block of "
             "the mask, and one barrier completes on the sum of them",
    .cites = "PTX ISA 9.0, 9.7.9.25.5.2 cp.async.bulk.tensor, .multicast::cluster; 9.7.13.15.5 "
             "tracking asynchronous operations by the mbarrier object",
    .rows = rows,
}};

}  // namespace
}  // namespace tidemark::suite
