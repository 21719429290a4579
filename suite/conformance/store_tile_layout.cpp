// Tile stores: strides, swizzles, boxes over the ends of tensors and of shared memory.
#include "suite/case.hpp"
#include "suite/conformance/tile.hpp"

namespace tidemark {
namespace {

// Tensors that start on any 16 bytes, and shared tiles that start on any 128.
std::vector<Op> base_offset_rows(const RunContext&) {
  std::vector<Op> rows;
  for (const DataType type : {DataType::u8, DataType::u32})
    for (std::uint32_t i = 1; i <= 20; ++i) {
      // 16 to 2000 bytes: each residue of 128 at least twice.
      const std::uint32_t offset = i <= 8 ? 16 * i : 16 * (i * i * 5 / 16);
      TileLoad box = tile(type, {elements_in(176, type), 11}, {elements_in(80, type), 7},
                          {inner_step(type), 3});
      box.map.base_offset = offset;
      box.destination_offset = 128 * (i % 8);
      rows.emplace_back(store_of(box));
    }
  for (const Swizzle swizzle : kSwizzles)
    for (const std::uint32_t offset : {128U, 256U, 384U, 640U, 1152U}) {
      // The CUDA Programming Guide (10.29.3.2, table 12) asks swizzled tensors for 128 bytes.
      const std::uint32_t inner = elements_in(swizzle_bytes(swizzle), DataType::u16);
      TileLoad box = tile(DataType::u16, {2 * inner, 11}, {inner, 7}, {0, 3});
      box.map.swizzle = swizzle;
      box.map.base_offset = offset;
      rows.emplace_back(store_of(box));
    }
  return rows;
}

const Register kBaseOffset{{
    .name = "store.tile.base_offset",
    .claim = "stores go into tensors that start on any 16 bytes of global memory, on any 128 with "
             "a swizzle, and their address does not turn the swizzle",
    .cites = "CUDA Driver API, cuTensorMapEncodeTiled, globalAddress; CUDA C++ Programming Guide "
             "13.1, 10.29.3.2",
    .rows = base_offset_rows,
}};

// 16 bytes wide, one high everywhere but 256 along `dimension`, in a tensor that `spare` more fit.
TileLoad longest(DataType type, std::uint32_t rank, std::uint32_t dimension, std::uint32_t spare) {
  const std::uint32_t inner = elements_in(16, type);
  std::vector<std::uint64_t> extent{2 * inner, 2, 2, 2, 2};
  std::vector<std::uint32_t> box{inner, 1, 1, 1, 1};
  extent.resize(rank);
  box.resize(rank);
  extent[dimension] = 256 + spare * (dimension == 0 ? inner : 1);
  box[dimension] = 256;
  return tile(type, extent, box);
}

// Boxes at the limits of their size: 256 in one dimension, 1 in all but the first, and larger than
// the tensor.
std::vector<Op> box_edge_rows(const RunContext&) {
  std::vector<Op> rows;
  for (const DataType type : {DataType::u8, DataType::u32, DataType::u64})  // up to 2,048 bytes
    for (std::uint32_t rank = 1; rank <= kMaxRank; ++rank) {
      TileLoad one_row = tile_of_rank(type, rank);
      one_row.map.box = {elements_in(64, type), 1, 1, 1, 1};
      rows.emplace_back(store_of(one_row));
      for (std::uint32_t dimension = 0; dimension < rank; ++dimension) {
        rows.emplace_back(store_of(longest(type, rank, dimension, 3)));
        TileLoad larger = tile_of_rank(type, rank);  // than the tensor, along one dimension
        larger.map.box[dimension] =
            static_cast<std::uint32_t>(larger.map.extent[dimension]) + elements_in(16, type);
        larger.at[dimension] = 0;
        rows.emplace_back(store_of(larger));
      }
    }
  return rows;
}

const Register kBoxEdge{{
    .name = "store.tile.box_edge",
    .claim = "a box of 256 in any dimension, of 1 in all outer ones, or larger than the tensor "
             "is stored as far as the tensor goes",
    .cites = "CUDA Driver API, cuTensorMapEncodeTiled, boxDim; PTX ISA 9.0, 5.5.3.3",
    .rows = box_edge_rows,
}};

// Boxes many GiB into a tensor: only what is touched has memory.
std::vector<Op> far_box_rows(const RunContext&) {
  std::vector<Op> rows;
  for (const TileLoad& load : far_boxes()) {
    TileStore store = store_of(load);
    store.destination = load.source;
    rows.emplace_back(store);
  }
  return rows;
}

const Register kFarBox{{
    .name = "store.tile.far_box",
    .claim = "a box that begins beyond the first 2^32 bytes of its tensor is written there, and "
             "nothing behind its end",
    .cites =
        "CUDA Driver API, cuTensorMapEncodeTiled, globalDim and globalStrides; PTX ISA 9.0, 5.5.3",
    .rows = far_box_rows,
}};

// A box that hangs over the far end of any set of dimensions, by one step, by two, and by all but
// one.
std::vector<Op> far_end_rows(const RunContext& context) {
  std::vector<Op> rows;
  for (std::uint32_t rank = 1; rank <= kMaxRank; ++rank)
    for (std::uint32_t dimensions = 1; dimensions < 1U << rank; ++dimensions)
      for (std::uint32_t size = 0; size < kTypeOfEachSize.size(); ++size) {
        // Quick runs take two of the four element sizes in turn, nightly ones all.
        if (context.level == Level::quick && (dimensions + rank + size) % 2 == 1) continue;
        rows.emplace_back(over_far_end(kTypeOfEachSize[size], rank, dimensions, 1));
      }
  for (std::uint32_t rank = 1; rank <= kMaxRank; ++rank)
    for (std::uint32_t i = 0; i < rank; ++i) {
      const DataType type = kTypeOfEachSize[(rank + i) % kTypeOfEachSize.size()];
      const TileLoad box = tile_of_rank(type, rank);
      const std::int32_t steps = static_cast<std::int32_t>(box.map.box[i]) / step_of(box, i);
      for (std::int32_t overhang = 2; overhang < steps; ++overhang)
        rows.emplace_back(over_far_end(type, rank, 1U << i, overhang));
    }
  return rows;
}

const Register kFarEnd{{
    .name = "store.tile.far_end",
    .claim = "of a box that hangs over the far end of a tensor exactly what is inside gets stored",
    .cites = "PTX ISA 9.0, 5.5.3.3 out-of-boundary access",
    .rows = far_end_rows,
}};

// Strides from 2^32 bytes on: of the memory between the rows nothing is there.
std::vector<Op> far_stride_rows(const RunContext&) {
  std::vector<Op> rows;
  for (const TileLoad& load : far_strides()) {
    TileStore store = store_of(load);
    store.destination = load.source;
    rows.emplace_back(store);
  }
  return rows;
}

const Register kFarStride{{
    .name = "store.tile.far_stride",
    .claim = "rows that lie 2^32 bytes and more apart are written where the stride says",
    .cites =
        "CUDA Driver API, cuTensorMapEncodeTiled, globalDim and globalStrides; PTX ISA 9.0, 5.5.3",
    .rows = far_stride_rows,
}};

// Coordinates near the end of 32 bits, and ones that land inside the tensor if their upper bits are
// lost.
std::vector<Op> int32_limits_rows(const RunContext&) {
  constexpr std::int32_t kLast = 0x7fffffff;
  std::vector<Op> rows;
  for (const DataType type : {DataType::u8, DataType::f64})
    for (const std::uint32_t rank : {1U, 2U, 3U, 5U})
      for (std::uint32_t i = 0; i < rank; ++i) {
        const TileStore store = store_of(tile_of_rank(type, rank));
        const std::int32_t step = i == 0 ? inner_step(type) : 1;
        // The end of the first box is past 2^31; the low 8, 16 or 24 bits of the others alone would
        // be a place inside.
        for (const std::int32_t to :
             {kLast - kLast % step, 0x100 + step, 0x10000 + step, 0x1000000 + step}) {
          TileStore outside = store;
          outside.at[i] = to;
          rows.emplace_back(outside);
        }
      }
  rows.emplace_back(over_far_end(DataType::u8, 2, 3, 1));
  return rows;
}

const Register kInt32Limits{{
    .name = "store.tile.int32_limits",
    .claim = "coordinates of stores keep all 31 bits: a box near the limit of int32 does not fall "
             "back into the tensor",
    .cites = "PTX ISA 9.0, 9.7.9.25.5.2 cp.async.bulk.tensor, tensorCoords; 5.5.3.3",
    .rows = int32_limits_rows,
}};

// Boxes of 64 to 222 KiB: one copy empties the shared memory of a CTA.
std::vector<Op> large_box_rows(const RunContext&) {
  std::vector<Op> rows;
  for (const TileLoad& load : large_boxes()) rows.emplace_back(store_of(load));
  return rows;
}

const Register kLargeBox{{
    .name = "store.tile.large_box",
    .claim = "one copy stores as much as shared memory holds",
    .cites = "CUDA Driver API, cuTensorMapEncodeTiled, boxDim",
    .rows = large_box_rows,
}};

// Each dimension of `padded` (bit i: dimension i) begins its next index `padding` bytes later.
TileStore padded_store(std::uint32_t rank, std::uint32_t padded, std::uint64_t padding) {
  TileLoad box = tile_of_rank(DataType::u32, rank);
  std::uint64_t stride = box.map.extent[0] * element_bytes(DataType::u32);
  for (std::uint32_t i = 1; i < rank; ++i) {
    if ((padded >> i & 1U) != 0) stride += padding;
    box.map.stride[i - 1] = stride;
    stride *= box.map.extent[i];
  }
  return store_of(box);
}

// Strides longer than the rows they step over, in one dimension and in all.
std::vector<Op> padded_stride_rows(const RunContext&) {
  std::vector<Op> rows;
  for (std::uint32_t rank = 2; rank <= kMaxRank; ++rank)
    for (std::uint32_t padded = 2; padded < 1U << rank; padded += 2)  // dimension 0 has no stride
      for (const std::uint64_t padding : {16U, 32U, 208U})
        rows.emplace_back(padded_store(rank, padded, padding));
  return rows;
}

const Register kPaddedStride{{
    .name = "store.tile.padded_stride",
    .claim = "each outer coordinate advances by exactly the stride given in bytes, and stores "
             "leave alone what lies between rows",
    .cites = "CUDA Driver API, cuTensorMapEncodeTiled, globalStrides",
    .rows = padded_stride_rows,
}};

// Tiles at addresses of shared memory that 16 or 17 bits cannot hold, and at its end.
std::vector<Op> shared_end_rows(const RunContext&) {
  std::vector<Op> rows;
  for (const TileLoad& load : at_shared_end()) rows.emplace_back(store_of(load));
  return rows;
}

const Register kSharedEnd{{
    .name = "store.tile.shared_end",
    .claim = "a tile is stored from any place in the shared memory of a CTA, to its end",
    .cites = "PTX ISA 9.0, 9.7.9.25.5.2; CUDA C++ Programming Guide 13.1, compute capability 9.0",
    .rows = shared_end_rows,
}};

// Box rows of exactly `bytes`, 1200 bytes or more in all, with one more dimension where `deep`.
TileLoad swizzled(DataType type, std::uint32_t bytes, bool deep) {
  const std::uint32_t inner = elements_in(bytes, type);
  const std::uint32_t height = 1200 / bytes + 1;
  if (!deep) return tile(type, {3 * inner, height + 3}, {inner, height}, {0, 2});
  return tile(type, {3 * inner, 9, 16}, {inner, 7, height / 7 + 1}, {0, 1, 2});
}

// Every swizzle at every phase of the source address, for each element size, over more than one
// whole pattern; and without a swizzle from the same sources.
std::vector<Op> swizzle_rows(const RunContext&) {
  std::vector<Op> rows;
  for (const Swizzle swizzle : {Swizzle::none, Swizzle::b32, Swizzle::b64, Swizzle::b128})
    for (std::uint32_t phase = 0; phase < 8; ++phase)
      for (const DataType type : kTypeOfEachSize) {
        const std::uint32_t bytes = swizzle == Swizzle::none ? 96 : swizzle_bytes(swizzle);
        TileLoad box = swizzled(type, bytes, phase % 2 == 0);
        box.at[0] = static_cast<std::int32_t>(elements_in(bytes, type));
        box.map.swizzle = swizzle;
        box.destination_offset = 128 * phase;
        rows.emplace_back(store_of(box));
      }
  return rows;
}

const Register kSwizzle{{
    .name = "store.tile.swizzle",
    .claim = "16-byte chunks are taken from where the swizzle tables put them for the absolute "
             "shared address, whatever its phase within 1024 bytes",
    .cites = "PTX ISA 9.0, 5.5.7 swizzling modes; CUDA C++ Programming Guide, 10.29.3.2",
    .rows = swizzle_rows,
}};

// Swizzled boxes over the far end of each dimension and of all, and ones of fewer rows than one
// pattern has.
std::vector<Op> swizzle_overhang_rows(const RunContext&) {
  std::vector<Op> rows;
  for (const Swizzle swizzle : kSwizzles)
    for (const DataType type : {DataType::u8, DataType::bf16, DataType::f32, DataType::f64})
      for (std::uint32_t dimensions = 1; dimensions < 8; ++dimensions) {
        const std::uint32_t inner = elements_in(swizzle_bytes(swizzle), type);
        TileLoad box = tile(type, {2 * inner, 9, 4}, {inner, 1 + dimensions, 2}, {0, 1, 1});
        for (std::uint32_t i = 0; i < 3; ++i)
          if ((dimensions >> i & 1U) != 0) box.at[i] = highest_inside(box, i) + step_of(box, i);
        box.map.swizzle = swizzle;
        box.destination_offset = 128 * dimensions;
        rows.emplace_back(store_of(box));
      }
  return rows;
}

const Register kSwizzleOverhang{{
    .name = "store.tile.swizzle_overhang",
    .claim = "what a swizzled box has outside the tensor is dropped by its place in the box, not "
             "by its place in shared memory",
    .cites = "PTX ISA 9.0, 5.5.3.3 out-of-boundary access and 5.5.7 swizzling modes",
    .rows = swizzle_overhang_rows,
}};

// A box that starts behind the end of one dimension or of all, near and far; with one box that
// keeps a corner inside, for comparison.
std::vector<Op> whole_outside_rows(const RunContext&) {
  std::vector<Op> rows;
  for (const DataType type : {DataType::u16, DataType::f64})
    for (std::uint32_t rank = 1; rank <= kMaxRank; ++rank) {
      const TileStore store = store_of(tile_of_rank(type, rank));
      TileStore all = store;
      for (std::uint32_t i = 0; i < rank; ++i) {
        const auto extent = static_cast<std::int32_t>(store.map.extent[i]);
        const std::int32_t step = i == 0 ? inner_step(type) : 1;
        for (const std::int32_t to : {extent, extent + step, 0x10000 + step, 1 << 30}) {
          TileStore outside = store;
          outside.at[i] = to;
          rows.emplace_back(outside);
        }
        all.at[i] = extent;
      }
      if (rank > 1) rows.emplace_back(all);  // along one dimension, it has been
      rows.emplace_back(over_far_end(type, rank, (1U << rank) - 1, 2));
    }
  return rows;
}

const Register kWholeOutside{{
    .name = "store.tile.whole_outside",
    .claim = "a box that starts behind the end of a tensor writes nothing, and its group "
             "completes",
    .cites = "PTX ISA 9.0, 5.5.3.3 out-of-boundary access",
    .rows = whole_outside_rows,
}};

}  // namespace
}  // namespace tidemark
