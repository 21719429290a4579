// What a tensor map says: the arguments of cuTensorMapEncodeTiled or cuTensorMapEncodeIm2col as
// plain values.
#pragma once

#include <algorithm>
#include <array>
#include <cstdint>
#include <string>
#include <string_view>

namespace tidemark {

inline constexpr std::uint32_t kMaxRank = 5;
inline constexpr std::uint32_t kMaxSpatial = 3;  // dimensions of an image: W, H, D

/// Element types in the order of CUtensorMapDataType (cuda.h, CUDA 13.0), values 0 to 12.
enum class DataType : std::uint8_t {
  u8,
  u16,
  u32,
  s32,
  u64,
  s64,
  f16,
  f32,
  f64,
  bf16,
  f32_ftz,
  tf32,
  tf32_ftz,
};
inline constexpr std::uint32_t kDataTypes = 13;

constexpr std::uint32_t element_bytes(DataType type) {
  constexpr std::uint32_t kBytes[kDataTypes] = {1, 2, 4, 4, 8, 8, 2, 4, 8, 2, 4, 4, 4};
  return kBytes[static_cast<std::uint32_t>(type)];
}

constexpr bool is_floating(DataType type) { return type >= DataType::f16; }

constexpr std::string_view name_of(DataType type) {
  constexpr std::string_view kNames[kDataTypes] = {"u8",      "u16",  "u32",     "s32", "u64",
                                                   "s64",     "f16",  "f32",     "f64", "bf16",
                                                   "f32_ftz", "tf32", "tf32_ftz"};
  return kNames[static_cast<std::uint32_t>(type)];
}

enum class Interleave : std::uint8_t { none, b16, b32 };          // CUtensorMapInterleave 0..2
enum class Swizzle : std::uint8_t { none, b32, b64, b128 };       // CUtensorMapSwizzle 0..3
enum class L2Promotion : std::uint8_t { none, b64, b128, b256 };  // CUtensorMapL2promotion
enum class Fill : std::uint8_t { zero, nan };                     // CUtensorMapFloatOOBfill

/// Bytes of the inner box row that one swizzle atom spans; 0 without a swizzle.
constexpr std::uint32_t swizzle_bytes(Swizzle swizzle) {
  return swizzle == Swizzle::none ? 0U : 16U << static_cast<std::uint32_t>(swizzle);
}

/// A tiled tensor map. Dimension 0 is the fastest. Entries past `rank` are ignored.
/// Rules: CUDA Driver API, cuTensorMapEncodeTiled.
/// With `bulk` there is no map: copies are cp.async.bulk of box[0] consecutive elements, by the
/// address of the first. Rank 1, no swizzle, no fill; whole multiples of 16 bytes that lie inside
/// the extent, and 16 bytes are enough for an address in shared memory. PTX ISA 9.0, 9.7.9.25.4.
/// With `im2col` the dimensions are C, W, N, or C, W, H, N, or C, W, H, D, N. box[0] is
/// channelsPerPixel and box[1] pixelsPerColumn, up to 1024; the rest of box is ignored. A copy
/// takes pixels one after the other, W first, `element_stride` apart: those of the bounding box of
/// each image, which begins lower_corner from its first pixel and ends upper_corner from its last.
/// PTX ISA 9.0, 5.5.4; CUDA Driver API, cuTensorMapEncodeIm2col.
/// With `interleave` (rank 3 and up) the dimensions are W, [H, [D,]] slices of channels, N, and
/// dimension 0 counts units of 16 or 32 bytes, whatever the type: its extent, box, coordinates and
/// element stride. A box has one slice, whatever box[rank - 2] says, and its rows are not padded to
/// the swizzle. PTX ISA 9.0, 5.5.6, names the layouts alone; the rest was measured on an H100,
/// driver 580.159.04: behaviour.load.interleave.
struct TensorMapSpec {
  DataType type = DataType::u8;
  std::uint32_t rank = 2;
  std::array<std::uint64_t, kMaxRank> extent{};  // elements in memory, per dimension
  std::array<std::uint64_t, kMaxRank - 1>
      stride{};                               // bytes from one index of dimension i+1 to the next
  std::array<std::uint32_t, kMaxRank> box{};  // elements per dimension, 1..256
  std::array<std::uint32_t, kMaxRank> element_stride{1, 1, 1, 1, 1};
  Interleave interleave = Interleave::none;
  Swizzle swizzle = Swizzle::none;
  L2Promotion l2_promotion = L2Promotion::none;
  Fill fill = Fill::zero;
  std::uint32_t base_offset = 0;  // bytes from the start of the source allocation, a multiple of 16
  bool bulk = false;
  bool im2col = false;
  std::array<std::int32_t, kMaxSpatial> lower_corner{};  // along W, H, D
  std::array<std::int32_t, kMaxSpatial> upper_corner{};

  friend bool operator==(const TensorMapSpec&, const TensorMapSpec&) = default;
};

constexpr bool is_interleaved(const TensorMapSpec& map) {
  return map.interleave != Interleave::none;
}

/// Bytes from one index of dimension 0 to the next: an element, or a unit of an interleaved map.
constexpr std::uint32_t unit_bytes(const TensorMapSpec& map) {
  return is_interleaved(map) ? 8U << static_cast<std::uint32_t>(map.interleave)
                             : element_bytes(map.type);
}

/// What a tiled box spans along dimension `i`: one slice of an interleaved map.
constexpr std::uint32_t spanned(const TensorMapSpec& map, std::uint32_t i) {
  return is_interleaved(map) && i + 2 == map.rank ? 1 : map.box[i];
}

/// From one index of dimension `i` that a tiled copy takes to the next. The element stride of
/// dimension 0 counts only for interleaved maps (cuda.h, elementStrides).
constexpr std::uint32_t traversal_step(const TensorMapSpec& map, std::uint32_t i) {
  return i == 0 && !is_interleaved(map) ? 1 : map.element_stride[i];
}

/// Elements that one copy moves along dimension `i`: ceil(box / element stride). None where the
/// stride is 0, which the driver refuses: sizes are asked for before it is.
/// By an im2col map dimension 1 of the tile has its pixels, and the others one element.
constexpr std::uint32_t tile_extent(const TensorMapSpec& map, std::uint32_t i) {
  if (map.im2col) return i < 2 ? map.box[i] : 1;
  const std::uint32_t step = traversal_step(map, i);
  if (step == 0) return 0;
  return (spanned(map, i) + step - 1) / step;
}

/// Dimensions of the images of an im2col map; none where it is of a rank that has none.
constexpr std::uint32_t spatial_of(const TensorMapSpec& map) {
  return map.rank < 3 || map.rank > kMaxRank ? 0 : map.rank - 2;
}

/// What the corners and the offsets of an im2col map of this rank, 3 to 5, may be: the offsets of
/// an instruction share 16 bits. PTX ISA 9.0, 5.5.4.1.
constexpr std::int32_t highest_corner(std::uint32_t rank) {
  return rank == 3 ? 32767 : rank == 4 ? 127 : 15;
}
constexpr std::int32_t lowest_corner(std::uint32_t rank) { return -highest_corner(rank) - 1; }
constexpr std::uint32_t highest_offset(std::uint32_t rank) {
  return rank == 3 ? 65535 : rank == 4 ? 255 : 31;
}

/// What a size says that does not fit its type: more than any memory holds, and never a small
/// number that a wrapped product would look like.
inline constexpr std::uint32_t kTooManyBytes32 = 0xffffffffU;
inline constexpr std::uint64_t kTooManyBytes64 = std::uint64_t{1} << 62;

/// Bytes that one copy writes and credits, whatever lies outside the tensor; kTooManyBytes32 where
/// they are that many or more.
constexpr std::uint32_t tile_bytes(const TensorMapSpec& map) {
  std::uint64_t bytes = unit_bytes(map);
  for (std::uint32_t i = 0; i < map.rank; ++i) {
    bytes *= tile_extent(map, i);  // of two numbers below 2^32
    if (bytes > kTooManyBytes32) bytes = kTooManyBytes32;
  }
  return static_cast<std::uint32_t>(bytes);
}

/// Bytes from one row of the box to the next in shared memory. Rows that are narrower than the
/// swizzle lie its width apart: measured on an H200, see the case behaviour.load.narrow_swizzle.
/// Those of interleaved maps lie side by side.
constexpr std::uint32_t row_pitch(const TensorMapSpec& map) {
  const std::uint32_t row = unit_bytes(map) * tile_extent(map, 0);
  return is_interleaved(map) ? row : std::max(row, swizzle_bytes(map.swizzle));
}

/// Bytes of shared memory from the tile's first row to behind its last, the gaps behind narrow rows
/// included; kTooManyBytes32 where they are that many or more.
constexpr std::uint32_t tile_span(const TensorMapSpec& map) {
  std::uint64_t bytes = row_pitch(map);
  for (std::uint32_t i = 1; i < map.rank; ++i) {
    bytes *= tile_extent(map, i);
    if (bytes > kTooManyBytes32) bytes = kTooManyBytes32;
  }
  return static_cast<std::uint32_t>(bytes);
}

/// Bytes from the tensor's first to past its last element; kTooManyBytes64 where they are that many
/// or more.
constexpr std::uint64_t tensor_bytes(const TensorMapSpec& map) {
  std::uint64_t bytes = unit_bytes(map);
  for (std::uint32_t i = 0; i < map.rank; ++i) {
    const std::uint64_t steps = map.extent[i] - 1;
    const std::uint64_t pitch = i == 0 ? unit_bytes(map) : map.stride[i - 1];
    if (pitch != 0 && steps > (kTooManyBytes64 - bytes) / pitch) return kTooManyBytes64;
    bytes += steps * pitch;
  }
  return bytes;
}

// The rules by which cuTensorMapEncodeTiled and cuTensorMapEncodeIm2col refuse a tensor map: those
// of the virtual encoder, and of programs before they run.

/// CUDA_ERROR_INVALID_VALUE: the CUresult of every refusal.
inline constexpr std::int32_t kEncodeRefusedCode = 1;

/// The first documented rule that `map`, which is not bulk, breaks: "stride 130 of dimension 1;
/// cuTensorMapEncode takes multiples of 16 below 2^40"; or nothing where it breaks none.
/// CUDA Driver API 13.0, cuTensorMapEncodeTiled and cuTensorMapEncodeIm2col. What the documents
/// leave open (strides of 0 or below the row, a box larger than the tensor) is allowed, but for
/// pixels of no channels, columns of no pixels, and pixels off 16 bytes.
std::string refusal_of(const TensorMapSpec& map);

/// The same of rank, extents, boxes and element strides alone, behind which tiles have a size.
std::string refusal_of_sizes(const TensorMapSpec& map);

// A tile of rank 3 as a matrix of 16-byte chunks: dimension 0 is a row of a group (16 to 128
// bytes), dimension 1 the rows (8, 16 or 32), dimension 2 the groups, side by side.

inline constexpr std::uint32_t kWarpLanes = 32;
inline constexpr std::uint32_t kReadBytes = 16;  // a lane's

/// Bytes of one row of one group.
constexpr std::uint32_t group_row_bytes(const TensorMapSpec& map) {
  return map.box[0] * element_bytes(map.type);
}

/// Chunks of a row, through all groups.
constexpr std::uint32_t columns_of(const TensorMapSpec& map) {
  return group_row_bytes(map) / kReadBytes * map.box[2];
}

/// Row and column of the matrix.
struct LaneChunk {
  std::uint32_t row = 0;
  std::uint32_t column = 0;
};

/// The chunk that a lane reads where lane 0 has column `first`.
constexpr LaneChunk chunk_of_lane(const TensorMapSpec& map, std::uint32_t first,
                                  std::uint32_t lane) {
  return {.row = lane % map.box[1], .column = first + lane / map.box[1]};
}

/// Offset of a chunk from the start of the matrix, before the swizzle: group by group as a load
/// leaves them, or where `pitch` is not 0 in rows of so many bytes.
constexpr std::uint32_t chunk_offset(const TensorMapSpec& map, std::uint32_t pitch,
                                     const LaneChunk& chunk) {
  const std::uint32_t row_bytes = group_row_bytes(map);
  const std::uint32_t byte = chunk.column * kReadBytes;
  if (pitch != 0) return chunk.row * pitch + byte;
  return (byte / row_bytes * map.box[1] + chunk.row) * row_bytes + byte % row_bytes;
}

/// The shared address of a chunk whose unswizzled address is `address`. PTX ISA 9.0, 5.5.7.
constexpr std::uint32_t swizzled(std::uint32_t address, Swizzle swizzle) {
  const std::uint32_t mask = swizzle == Swizzle::none ? 0 : swizzle_bytes(swizzle) / 16 - 1;
  return address ^ (((address >> 7) & mask) << 4);
}

}  // namespace tidemark
