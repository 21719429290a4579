// Tile loads: strides, swizzles, and the ends of tensors and of shared memory.
#include "suite/case.hpp"
#include "suite/conformance/tile.hpp"

namespace tidemark {
namespace {

// Tensors that start on any 16 bytes, also off the 128 and 1024 bytes on which swizzle patterns
// repeat.
std::vector<Op> base_offset_rows(const RunContext&) {
  std::vector<Op> rows;
  for (const Swizzle swizzle : {Swizzle::none, Swizzle::b32, Swizzle::b64, Swizzle::b128})
    for (const DataType type : {DataType::u8, DataType::u32})
      for (const std::uint32_t offset :
           {16U, 32U, 48U, 64U, 80U, 96U, 112U, 128U, 256U, 384U, 528U, 640U, 1008U, 1920U}) {
        // The CUDA Programming Guide (10.29.3.2, table 12) asks swizzled tensors for 128 bytes, the
        // driver's manual for 16: only what both promise is judged.
        if (swizzle != Swizzle::none && offset % 128 != 0) continue;
        const std::uint32_t bytes = swizzle == Swizzle::none ? 80 : swizzle_bytes(swizzle);
        const std::uint32_t inner = elements_in(bytes, type);
        TileLoad load = tile(type, {2 * inner + 3, 23}, {inner, 17}, {inner_step(type), 4});
        load.map.swizzle = swizzle;
        load.map.base_offset = offset;
        rows.emplace_back(load);
      }
  return rows;
}

const Register kBaseOffset{{
    .name = "load.tile.base_offset",
    .claim = "the tensor may start on any 16 bytes of global memory, on any 128 with a swizzle, "
             "and its address does not turn the swizzle",
    .cites = "CUDA Driver API, cuTensorMapEncodeTiled, globalAddress; CUDA C++ Programming Guide "
             "13.1, 10.29.3.2",
    .rows = base_offset_rows,
}};

TileLoad strided(std::uint32_t dimension, std::uint32_t step, std::uint32_t box) {
  TileLoad load = tile(DataType::u16, {48, 2, 2, 2, 2}, {24, 1, 1, 1, 1}, {8, 1, 1, 1, 1});
  load.map.extent[dimension] = box + 3;
  load.map.box[dimension] = box;
  load.map.element_stride[dimension] = step;
  for (std::uint32_t i = 1; i < 4; ++i)
    load.map.stride[i] = load.map.stride[i - 1] * load.map.extent[i];
  return load;
}

// Boxes that take every second to every eighth element of an outer dimension, alone, in pairs and
// under a swizzle.
std::vector<Op> element_stride_rows(const RunContext&) {
  std::vector<Op> rows;
  for (std::uint32_t dimension = 1; dimension < kMaxRank; ++dimension)
    for (std::uint32_t step = 2; step <= 8; ++step)
      for (const std::uint32_t box : {2 * step, 3 * step + 1})
        rows.emplace_back(strided(dimension, step, box));
  for (std::uint32_t step = 2; step <= 8; ++step) {
    TileLoad load = tile(DataType::u32, {32, 29, 19}, {32, 26, 13}, {0, 2, 3});
    load.map.element_stride = {1, step, 10 - step, 1, 1};
    rows.emplace_back(load);
    load.map.swizzle = Swizzle::b128;
    load.map.element_stride[0] = step;  // ignored: the map is not interleaved
    rows.emplace_back(load);
  }
  return rows;
}

const Register kElementStride{{
    .name = "load.tile.element_stride",
    .claim = "an element stride s takes ceil(box / s) elements along its dimension, s apart, and "
             "credits only those",
    .cites = "CUDA Driver API, cuTensorMapEncodeTiled, elementStrides; PTX ISA 9.0, 5.5.3.2",
    .rows = element_stride_rows,
}};

// Boxes many GiB into a tensor: only what is touched has memory.
std::vector<Op> far_box_rows(const RunContext&) {
  std::vector<Op> rows;
  for (const TileLoad& load : far_boxes()) rows.emplace_back(load);
  return rows;
}

const Register kFarBox{{
    .name = "load.tile.far_box",
    .claim = "a box that begins beyond the first 2^32 bytes of its tensor is read there, and what "
             "lies behind its end is filled",
    .cites =
        "CUDA Driver API, cuTensorMapEncodeTiled, globalDim and globalStrides; PTX ISA 9.0, 5.5.3",
    .rows = far_box_rows,
}};

// Strides from 2^32 bytes on: of the memory between the rows nothing is there.
std::vector<Op> far_stride_rows(const RunContext&) {
  std::vector<Op> rows;
  for (const TileLoad& load : far_strides()) rows.emplace_back(load);
  return rows;
}

const Register kFarStride{{
    .name = "load.tile.far_stride",
    .claim = "rows that lie 2^32 bytes and more apart are read where the stride says",
    .cites =
        "CUDA Driver API, cuTensorMapEncodeTiled, globalDim and globalStrides; PTX ISA 9.0, 5.5.3",
    .rows = far_stride_rows,
}};

// Boxes of 64 to 222 KiB: one copy fills the shared memory of a CTA.
std::vector<Op> large_box_rows(const RunContext&) {
  std::vector<Op> rows;
  for (const TileLoad& load : large_boxes()) rows.emplace_back(load);
  return rows;
}

const Register kLargeBox{{
    .name = "load.tile.large_box",
    .claim = "one copy loads as much as shared memory holds, and credits all of it",
    .cites = "CUDA Driver API, cuTensorMapEncodeTiled, boxDim; PTX ISA 9.0, 9.7.13.15.2",
    .rows = large_box_rows,
}};

// Ends on 16 bytes, with its last element at the edge.
TileLoad at_edge(DataType type, std::uint32_t rank, L2Promotion promotion) {
  TileLoad load = tile_of_rank(type, rank);
  const std::uint32_t chunk = elements_in(16, type);
  load.map.extent[0] = (load.map.extent[0] + chunk - 1) / chunk * chunk;
  load.map.l2_promotion = promotion;
  load.source = MemorySource::edge;
  return load;
}

// Tensors that end with the last mapped byte: boxes that reach it and boxes that hang over it,
// under every promotion of the L2 fetch, which reads more than the box.
std::vector<Op> last_byte_rows(const RunContext&) {
  std::vector<Op> rows;
  for (const auto promotion :
       {L2Promotion::none, L2Promotion::b64, L2Promotion::b128, L2Promotion::b256})
    for (std::uint32_t rank = 1; rank <= kMaxRank; ++rank)
      for (const DataType type : kTypeOfEachSize) {
        const TileLoad load = at_edge(type, rank, promotion);
        const std::uint32_t all = (1U << rank) - 1;
        rows.emplace_back(in_corner(load, all, 0));  // ends with the tensor
        rows.emplace_back(in_corner(load, all, 1));
        if (rank > 1) rows.emplace_back(in_corner(load, 1U << (rank - 1), 1));
      }
  return rows;
}

const Register kLastByte{{
    .name = "load.tile.last_byte",
    .claim = "a tensor may end with the last byte that is mapped: what a box hangs over it is "
             "filled, and neither the box nor the promoted fetch touches what is behind",
    .cites =
        "PTX ISA 9.0, 5.5.3.3 out-of-boundary access; CUDA Driver API, cuTensorMapEncodeTiled, "
        "l2Promotion; Virtual Memory Management",
    .rows = last_byte_rows,
}};

// Pads dimension `padded` by `padding` bytes, or each dimension where `padded` is the rank.
TileLoad with_padding(TileLoad load, std::uint32_t padded, std::uint64_t padding) {
  const std::uint32_t rank = load.map.rank;
  for (std::uint32_t i = 1; i < rank; ++i) {
    if (i > 1) load.map.stride[i - 1] = load.map.stride[i - 2] * load.map.extent[i - 1];
    if (padded == i || padded == rank) load.map.stride[i - 1] += padding;
  }
  return load;
}

// Strides longer than the rows they step over, in one dimension and in all.
std::vector<Op> padded_stride_rows(const RunContext&) {
  std::vector<Op> rows;
  for (std::uint32_t rank = 2; rank <= kMaxRank; ++rank)
    for (std::uint32_t padded = rank == 2 ? 2 : 1; padded <= rank; ++padded)  // 2 has one stride
      for (const std::uint64_t padding : {16U, 32U, 208U})
        rows.emplace_back(with_padding(tile_of_rank(DataType::u32, rank), padded, padding));
  return rows;
}

const Register kPaddedStride{{
    .name = "load.tile.padded_stride",
    .claim = "each outer coordinate advances by exactly the stride given in bytes",
    .cites = "CUDA Driver API, cuTensorMapEncodeTiled, globalStrides",
    .rows = padded_stride_rows,
}};

// Boxes at addresses of shared memory that 16 or 17 bits cannot hold, and at its end.
std::vector<Op> shared_end_rows(const RunContext&) {
  std::vector<Op> rows;
  for (const TileLoad& load : at_shared_end()) rows.emplace_back(load);
  return rows;
}

const Register kSharedEnd{{
    .name = "load.tile.shared_end",
    .claim = "a box is loaded to any place in the shared memory of a CTA, to its end",
    .cites = "PTX ISA 9.0, 9.7.9.25.5.2; CUDA C++ Programming Guide 13.1, compute capability 9.0",
    .rows = shared_end_rows,
}};

// `rows` rows of exactly `bytes` each, with one more dimension where `deep`.
TileLoad swizzled(DataType type, Swizzle swizzle, std::uint32_t bytes, bool deep) {
  const std::uint32_t inner = elements_in(bytes, type);
  const std::uint32_t height = 2048 / bytes + 3;
  TileLoad load = deep ? tile(type, {3 * inner, 13, 11}, {inner, 9, height / 9 + 1}, {0, 3, 2})
                       : tile(type, {3 * inner, height + 2}, {inner, height}, {0, 1});
  load.at[0] = static_cast<std::int32_t>(inner);
  load.map.swizzle = swizzle;
  return load;
}

// Every swizzle at every phase of the destination address, for each element size, over more than
// one whole pattern; and without a swizzle at the same destinations.
std::vector<Op> swizzle_rows(const RunContext&) {
  std::vector<Op> rows;
  for (const Swizzle swizzle : {Swizzle::none, Swizzle::b32, Swizzle::b64, Swizzle::b128})
    for (std::uint32_t phase = 0; phase < 8; ++phase)
      for (const DataType type : kTypeOfEachSize) {
        const std::uint32_t bytes = swizzle == Swizzle::none ? 96 : swizzle_bytes(swizzle);
        TileLoad load = swizzled(type, swizzle, bytes, phase % 2 == 1);
        load.destination_offset = 128 * phase;
        rows.emplace_back(load);
      }
  return rows;
}

const Register kSwizzle{{
    .name = "load.tile.swizzle",
    .claim = "16-byte chunks stand where the swizzle tables put them for the absolute shared "
             "address, whatever its phase within 1024 bytes",
    .cites = "PTX ISA 9.0, 5.5.7 swizzling modes; CUDA C++ Programming Guide, 10.29.3.2",
    .rows = swizzle_rows,
}};

// Swizzled boxes of fewer rows than one pattern has, down to a single row.
std::vector<Op> swizzle_few_rows_rows(const RunContext&) {
  std::vector<Op> rows;
  for (const Swizzle swizzle : kSwizzles)
    for (std::uint32_t height = 1; height < 8; ++height)
      for (const std::uint32_t phase : {0U, 3U, 6U}) {
        const std::uint32_t inner = elements_in(swizzle_bytes(swizzle), DataType::u16);
        TileLoad load = tile(DataType::u16, {2 * inner + 1, 13}, {inner, height},
                             {static_cast<std::int32_t>(inner / 2), 3});
        load.map.swizzle = swizzle;
        load.destination_offset = 128 * phase;
        rows.emplace_back(load);
      }
  return rows;
}

const Register kSwizzleFewRows{{
    .name = "load.tile.swizzle_few_rows",
    .claim = "a swizzled box shorter than the pattern lies as the first rows of the pattern and "
             "touches nothing behind them",
    .cites = "PTX ISA 9.0, 5.5.7 swizzling modes",
    .rows = swizzle_few_rows_rows,
}};

}  // namespace
}  // namespace tidemark
