// Maps in which one field is replaced, of every rank.
#include "suite/case.hpp"
#include "suite/conformance/map_change.hpp"

namespace tidemark::suite {
namespace {

constexpr DataType kTypes[] = {DataType::f64, DataType::u8,  DataType::f16, DataType::u32,
                               DataType::f32, DataType::u16, DataType::u64, DataType::bf16};

std::vector<Op> rows(const RunContext& context) {
  std::vector<Op> rows;
  for (std::uint32_t rank = 1; rank <= kMaxRank; ++rank)
    for (const DataType type : kTypes) {
      if (context.level == Level::quick && type != kTypes[rank - 1]) continue;
      for (MapChange change : one_field_each(type, rank)) {
        change.in_place = rows.size() % 3 == 2;
        rows.emplace_back(program_of(change));
      }
    }
  return rows;
}

const Register kCase{{
    .name = "map.replace.field",
    .claim = "a tensor map of which one field is replaced is the map that would be encoded so, to "
             "loads and stores",
    .cites = "PTX ISA 9.0, 9.7.9.26 tensormap.replace; CUDA C++ Programming Guide 13.0, 10.30 "
             "Encoding a Tensor Map on Device",
    .rows = rows,
}};

}  // namespace
}  // namespace tidemark::suite
