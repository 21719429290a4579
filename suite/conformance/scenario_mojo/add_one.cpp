// Adds 1 to every element of tensors of every rank, over padded rows and tiles that hang over.
#include "suite/case.hpp"
#include "suite/conformance/round_trip.hpp"

namespace tidemark::suite {
namespace {

TileRoundTrip plus_one(TileRoundTrip trip, std::uint32_t ctas) {
  trip.work = TileWork::add_one;
  trip.numbers = Numbers::small;
  trip.ctas = ctas;
  return trip;
}

std::vector<Op> rows(const RunContext&) {
  const std::vector<std::uint64_t> extent{12, 7, 5, 3, 2};
  const std::vector<std::uint32_t> box{4, 3, 2, 2, 1};
  std::vector<Op> rows;
  for (const DataType type : {DataType::f32, DataType::u32, DataType::s32})
    for (std::uint32_t rank = 1; rank <= kMaxRank; ++rank) {
      TensorMapSpec map =
          map_of(type, {extent.begin(), extent.begin() + rank}, {box.begin(), box.begin() + rank});
      rows.emplace_back(plus_one(in_place(map), 1));
      TensorMapSpec padded = map;
      for (std::uint32_t i = 0; i + 1 < rank; ++i)
        padded.stride[i] = (i == 0 ? 80 : padded.stride[i - 1] * map.extent[i]) + 32;
      padded.base_offset = 48;
      rows.emplace_back(plus_one(there_and_back(map, padded), 3));
    }
  return rows;
}

const Register kCase{{
    .name = "scenario.mojo.add_one",
    .claim =
        "what all threads added before they fenced is what the store writes, in tensors of any "
        "rank and whatever the padding of their rows",
    .cites = "PTX ISA 9.0, 5.5.3 tiled mode, 9.7.9.25.5.2 and 9.7.13.4; Use TMA without "
             "CUDA, Store",
    .rows = rows,
}};

}  // namespace
}  // namespace tidemark::suite
