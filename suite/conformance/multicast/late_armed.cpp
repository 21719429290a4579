// Receivers that announce their bytes only when the data has had time to land.
#include "suite/case.hpp"
#include "suite/conformance/multicast_row.hpp"
#include "suite/conformance/tile.hpp"

namespace tidemark::suite {
namespace {

std::vector<Op> rows(const RunContext&) {
  std::vector<Op> rows;
  for (const DataType type : {DataType::u8, DataType::f64})
    for (const std::uint32_t size : {2U, 4U, 8U})
      for (std::uint32_t issuer = 0; issuer < size; ++issuer) {
        const std::uint32_t all = (1U << size) - 1;
        MulticastLoad row = multicast(tile_of_rank(type, 3), size, all, issuer);
        row.late_arm = true;
        rows.emplace_back(row);
        row.mask = static_cast<std::uint16_t>(all & ~(1U << issuer));
        rows.emplace_back(row);
      }
  return rows;
}

const Register kCase{{
    .name = "multicast.late_armed",
    .claim = "a receiver may announce its bytes after they have landed: the phase stays open "
             "before, with a negative tx-count, and completes with the announcement",
    .cites = "PTX ISA 9.0, 9.7.13.15.2 (tx-count from -(2^20-1)), 9.7.13.15.5 and 9.7.13.15.6 "
             "phase completion",
    .rows = rows,
}};

}  // namespace
}  // namespace tidemark::suite
