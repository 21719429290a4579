// Copies between neighbors: tile loads from, and stores to, the memory of another GPU. The last
// element of the tensor is in many boxes: what has not yet arrived is what was written last.
#include <vector>

#include "kernels/ops/op.hpp"
#include "suite/case.hpp"
#include "suite/conformance/tile.hpp"

namespace tidemark {
namespace {

std::vector<TileLoad> boxes(const RunContext& context) {
  std::vector<TileLoad> boxes;
  for (std::uint32_t rank = 1; rank <= kMaxRank; ++rank)
    for (const DataType type : kTypeOfEachSize) {
      const TileLoad box = tile_of_rank(type, rank);
      boxes.push_back(in_corner(box, (1U << rank) - 1, 0));
      if (rank == 3) boxes.push_back(in_corner(box, (1U << rank) - 1, 1));
    }
  for (const Swizzle swizzle : kSwizzles) {
    const std::uint32_t inner = swizzle_bytes(swizzle);
    TileLoad box = tile(DataType::u8, {inner, 67}, {inner, 64}, {0, 3});
    box.map.swizzle = swizzle;
    box.destination_offset = 384;
    boxes.push_back(box);
  }
  boxes.push_back(tile(DataType::u32, {256, 96}, {64, 96}, {192, 0}));  // 24 KiB
  for (const CacheHint hint :
       {CacheHint::evict_normal, CacheHint::evict_first, CacheHint::evict_last}) {
    boxes.push_back(in_corner(tile_of_rank(DataType::f32, 3), 7, 0));
    boxes.back().hint = hint;
  }
  constexpr std::uint32_t kRandom[] = {6, 60, 300};  // by level
  for (std::uint32_t i = 0; i < kRandom[static_cast<std::size_t>(context.level)]; ++i)
    boxes.push_back(random_tile(splitmix64(context.seed + i)));
  return boxes;
}

// Copies of each type size, rank and swizzle, at the far end of tensors, over it, and anywhere,
// each with both payloads; more of them at the higher levels. For all ranks the same but for who
// they are.
std::vector<Op> peer_rows(const RunContext& context, PeerWay way) {
  std::vector<Op> rows;
  for (const TileLoad& box : boxes(context)) {
    PeerTile peer{.map = box.map,
                  .at = box.at,
                  .shared_offset = box.destination_offset,
                  .way = way,
                  .hint = box.hint,
                  .rank = context.rank,
                  .ranks = context.ranks,
                  .transport = context.transport};
    if (way == PeerWay::store) {
      TileLoad legal = box;
      const std::uint64_t chunk = elements_in(16, box.map.type);
      legal.map.extent[0] = (box.map.extent[0] + chunk - 1) / chunk * chunk;  // rows of whole 16
      legal.map.element_stride = {1, 1, 1, 1, 1};
      const TileStore store = store_of(legal);
      peer.map = store.map;
      peer.at = store.at;
    }
    for (const bool inverted : {false, true}) {
      peer.inverted = inverted;
      rows.emplace_back(peer);
    }
  }
  return rows;
}

// Tile loads from the memory of another GPU of the same host.
std::vector<Op> load_rows(const RunContext& context) { return peer_rows(context, PeerWay::load); }

const Register kLoad{{
    .name = "peer.load",
    .claim =
        "a tensor map may point into the memory of another GPU that this one has access to, and a "
        "tile load brings the bytes that its owner wrote there",
    .cites = "PTX ISA 9.0, 9.7.9.25.5.2 cp.async.bulk.tensor, .global; CUDA C++ Programming Guide "
             "13.1, peer-to-peer memory access and interprocess communication",
    .scope = CaseScope::all_gpus,
    .seconds = 2,
    .fewest_gpus = 2,
    .rows = load_rows,
}};

// Tile stores to the memory of another GPU of the same host, which looks for them itself.
std::vector<Op> store_rows(const RunContext& context) { return peer_rows(context, PeerWay::store); }

const Register kStore{{
    .name = "peer.store",
    .claim =
        "a tile store through a tensor map that points into the memory of another GPU is there "
        "for its owner once the kernel has ended, and touches nothing else",
    .cites = "PTX ISA 9.0, 9.7.9.25.5.2 cp.async.bulk.tensor, .global; CUDA C++ Programming Guide "
             "13.1, peer-to-peer memory access and interprocess communication",
    .scope = CaseScope::all_gpus,
    .seconds = 2,
    .fewest_gpus = 2,
    .rows = store_rows,
}};

}  // namespace
}  // namespace tidemark
