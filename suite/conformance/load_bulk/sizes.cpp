// Bulk loads of every size class, from and to every address on 16 bytes.
#include "suite/case.hpp"
#include "suite/conformance/bulk.hpp"

namespace tidemark::suite {
namespace {

std::vector<Op> rows(const RunContext&) {
  std::vector<Op> rows;
  for (const std::uint32_t bytes : {16U, 32U, 48U, 112U, 128U, 144U, 1008U, 4096U, 4112U, 65552U})
    rows.emplace_back(bulk_load(DataType::u8, bytes, 0));
  for (std::uint32_t step = 1; step < 8; ++step) {
    TileLoad from = bulk_load(DataType::u32, 272, 16 * step);
    rows.emplace_back(from);
    TileLoad to = bulk_load(DataType::u16, 272, 16);
    to.destination_offset = 16 * step;
    rows.emplace_back(to);
    to.destination_offset = 1024 - 16 * step;
    rows.emplace_back(to);
  }
  constexpr std::uint32_t kMost = 223 * 1024;  // a CTA has 227 KiB, less guards and state
  rows.emplace_back(bulk_load(DataType::u64, kMost, 32));
  return rows;
}

const Register kCase{{
    .name = "load.bulk.sizes",
    .claim = "a bulk load brings so many consecutive bytes, any multiple of 16, from and to any "
             "address on 16, credits them once and touches nothing else",
    .cites = "PTX ISA 9.0, 9.7.9.25.4.1 cp.async.bulk",
    .rows = rows,
}};

}  // namespace
}  // namespace tidemark::suite
