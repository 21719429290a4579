// What lies outside the tensor is filled: zeros or NaN, on every side, under every stride.
#include "suite/case.hpp"
#include "suite/conformance/tile.hpp"

namespace tidemark {
namespace {

// A box that hangs over every corner of the tensor, by one step in each dimension.
std::vector<Op> corner_rows(const RunContext&) {
  std::vector<Op> rows;
  for (const DataType type : {DataType::u8, DataType::f32})
    for (std::uint32_t rank = 1; rank <= kMaxRank; ++rank)
      for (std::uint32_t corner = 0; corner < 1U << rank; ++corner)
        rows.emplace_back(in_corner(tile_of_rank(type, rank), corner, 1));
  return rows;
}

const Register kCorner{{
    .name = "zfill.corner",
    .claim = "a box over any of the 2^rank corners is zero outside the tensor in every dimension "
             "and unchanged inside",
    .cites = "PTX ISA 9.0, 5.5.3.3 out-of-boundary access",
    .rows = corner_rows,
}};

// Element strides whose steps begin before the tensor, leave it within the box, or jump over all
// of it.
std::vector<Op> element_stride_rows(const RunContext&) {
  std::vector<Op> rows;
  for (std::uint32_t step = 2; step <= 8; ++step)
    for (const auto& [extent, at] : {std::pair{19, -3}, {19, 9}, {5, -7}, {3, 0}, {3, -13}})
      for (const std::uint32_t dimension : {1U, 2U}) {
        TileLoad load = tile(DataType::u32, {28, 7, 7}, {12, 3, 3}, {4, 2, 2});
        load.map.extent[dimension] = static_cast<std::uint64_t>(extent);
        load.map.stride[1] = load.map.stride[0] * load.map.extent[1];
        load.map.box[dimension] = 21;
        load.at[dimension] = at;
        load.map.element_stride[dimension] = step;
        load.map.element_stride[3 - dimension] = dimension;  // 1 or 2
        load.map.element_stride[0] = dimension;              // ignored: the map is not interleaved
        rows.emplace_back(load);
      }
  return rows;
}

const Register kElementStride{{
    .name = "zfill.element_stride",
    .claim = "with an element stride each element taken is tested by its own coordinate, not by "
             "the end of the box",
    .cites = "CUDA Driver API, cuTensorMapEncodeTiled, elementStrides; PTX ISA 9.0, 5.5.3.2 and "
             "5.5.3.3",
    .rows = element_stride_rows,
}};

TileLoad moved(TileLoad load, std::uint32_t i, std::int32_t to) {
  load.at[i] = to;
  return load;
}

// Coordinates at the ends of 32 bits, and ones that land inside the tensor if their upper bits are
// lost.
std::vector<Op> int32_limits_rows(const RunContext&) {
  constexpr std::int32_t kLast = 0x7fffffff, kFirst = -kLast - 1;
  std::vector<Op> rows;
  for (const DataType type : {DataType::u8, DataType::f64})
    for (const std::uint32_t rank : {1U, 2U, 3U, 5U})
      for (std::uint32_t i = 0; i < rank; ++i) {
        const TileLoad load = tile_of_rank(type, rank);
        const std::int32_t step = step_of(load, i);
        const std::int32_t last = kLast - kLast % step;  // dimension 0 stays on 16 bytes
        TileLoad long_box = moved(load, i, last);        // its end is past 2^31
        long_box.map.box[i] = 64;
        if (i > 0) long_box.map.element_stride[i] = 8;
        rows.emplace_back(long_box);
        // The low 8, 16 or 24 bits alone would be a place inside.
        for (const std::int32_t to : {kFirst, kFirst + step, 0x100 + step, 0x10000 + step, -0x10000,
                                      0x1000000, step - 0x1000000})
          rows.emplace_back(moved(load, i, to));
      }
  return rows;
}

const Register kInt32Limits{{
    .name = "zfill.int32_limits",
    .claim = "coordinates keep all 32 bits: a box near either limit of int32 does not fall back "
             "into the tensor",
    .cites = "PTX ISA 9.0, 9.7.9.25.5.2 cp.async.bulk.tensor, tensorCoords; 5.5.3.3",
    .rows = int32_limits_rows,
}};

// Element strides at the ends of 32 bits: boxes whose later elements are past them, and boxes that
// land inside the tensor if a product or a sum loses its upper bits.
std::vector<Op> int32_stride_rows(const RunContext& context) {
  constexpr std::int32_t kLast = 0x7fffffff, kFirst = -kLast - 1;
  std::vector<Op> rows;
  for (std::uint32_t step = 2; step <= 8; ++step)
    for (const std::uint32_t rank : {2U, 3U, 5U})
      for (std::uint32_t i = 1; i < rank; ++i) {
        // Quick runs take every third pair of stride and dimension, nightly ones all.
        if (context.level == Level::quick && (step + rank + i) % 3 != 0) continue;
        const DataType type = kTypeOfEachSize[(step + i) % 4];
        TileLoad load = tile_of_rank(type, rank);
        load.map.box[i] = 8 * step;  // eight elements: the last is 7 steps behind the first
        load.map.element_stride[i] = step;
        const auto reach = static_cast<std::int32_t>(7 * step);
        // The last element on, before and past 2^31 - 1; the first of all; 2^28 and 2^30 times a
        // stride of 2, 4 or 8 are 0 in 32 bits.
        for (const std::int32_t to : {kLast - reach, kLast - reach + 1, kLast, kFirst, 1 << 28,
                                      step % 2 == 0 ? 1 << 30 : -(1 << 30)}) {
          load.at[i] = to;
          rows.emplace_back(load);
        }
      }
  // Every place of the box before the tensor but its last element or two, which are inside.
  for (std::uint32_t step = 2; step <= 8; ++step) {
    TileLoad load = tile_of_rank(DataType::f32, 2);
    load.map.box[1] = 8 * step;
    load.map.element_stride[1] = step;
    load.at[1] = -static_cast<std::int32_t>(7 * step);
    rows.emplace_back(load);
  }
  return rows;
}

const Register kInt32Stride{{
    .name = "zfill.int32_stride",
    .claim = "an element stride is stepped in more than 32 bits: a box near either limit of int32 "
             "is fill, and no step leads back into the tensor",
    .cites = "CUDA Driver API, cuTensorMapEncodeTiled, elementStrides; PTX ISA 9.0, 5.5.3.3",
    .rows = int32_stride_rows,
}};

// NaN fill for each floating type: over each side, over corners, wholly outside and wholly inside.
std::vector<Op> nan_rows(const RunContext&) {
  std::vector<Op> rows;
  for (const DataType type : kFloatingTypes) {
    TileLoad load = tile_of_rank(type, 3);
    load.map.fill = Fill::nan;
    rows.emplace_back(load);
    for (const std::uint32_t corner : {0U, 3U, 5U, 7U})
      rows.emplace_back(in_corner(load, corner, 1));
    for (std::uint32_t i = 0; i < load.map.rank; ++i)
      for (const bool high : {false, true}) {
        TileLoad over = load;
        over.at[i] = high ? highest_inside(load, i) + step_of(load, i) : -step_of(load, i);
        rows.emplace_back(over);
      }
    TileLoad outside = load;
    outside.at[1] = -static_cast<std::int32_t>(load.map.box[1]);
    rows.emplace_back(outside);
  }
  return rows;
}

const Register kNan{{
    .name = "zfill.nan",
    .claim = "with NaN fill every element outside the tensor is a NaN, and every element inside "
             "is unchanged",
    .cites = "CUDA Driver API, cuTensorMapEncodeTiled, oobFill = NAN_REQUEST_ZERO_FMA",
    .rows = nan_rows,
}};

TileLoad nan_filled(DataType type, std::uint32_t rank, bool swizzled) {
  TileLoad load = tile_of_rank(type, rank);
  load.map.fill = Fill::nan;
  if (swizzled) load.map.swizzle = Swizzle::b64;  // tile_of_rank has boxes 64 bytes wide
  return load;
}

// NaN fill of every floating type over each side of each dimension and over each corner, in every
// rank, with and without a swizzle.
std::vector<Op> nan_side_rows(const RunContext& context) {
  std::vector<Op> rows;
  std::uint32_t turn = 0;
  // Quick runs take each side and corner with two of the seven types in turn, nightly ones with
  // all.
  const auto skip = [&] { return context.level == Level::quick && turn++ % 7 > 1; };
  for (std::uint32_t rank = 1; rank <= kMaxRank; ++rank) {
    for (std::uint32_t i = 0; i < rank; ++i)
      for (const bool high : {false, true})
        for (const DataType type : kFloatingTypes) {
          if (skip()) continue;
          TileLoad load = nan_filled(type, rank, (rank + i) % 2 == 0);
          load.at[i] = high ? highest_inside(load, i) + step_of(load, i) : -step_of(load, i);
          rows.emplace_back(load);
        }
    for (std::uint32_t corner = 0; rank > 1 && corner < 1U << rank; ++corner)
      for (const DataType type : kFloatingTypes) {
        if (skip()) continue;
        rows.emplace_back(in_corner(nan_filled(type, rank, corner % 2 == 1), corner, 1));
      }
  }
  return rows;
}

const Register kNanSide{{
    .name = "zfill.nan_side",
    .claim = "over each side and each corner of a tensor of any rank, NaN fill ends where the "
             "tensor begins, for each floating type",
    .cites = "CUDA Driver API, cuTensorMapEncodeTiled, oobFill = NAN_REQUEST_ZERO_FMA; PTX ISA "
             "9.0, 5.5.3.3",
    .rows = nan_side_rows,
}};

// Rows of `left` elements more than two whole 16-byte chunks; the box takes the end of each row.
TileLoad ragged(DataType type, std::uint32_t left, std::int32_t at) {
  const std::uint32_t chunk = elements_in(16, type);
  TileLoad load = tile(type, {2 * chunk + left, 9}, {3 * chunk, 5}, {at, 2});
  load.map.stride[0] = 16 * 5;  // the row, up to 15 bytes to the next chunk, and two chunks more
  return load;
}

// Rows that end off 16 bytes, with bytes that are not zero in the padding behind them.
std::vector<Op> row_padding_rows(const RunContext&) {
  std::vector<Op> rows;
  for (const DataType type : kTypeOfEachSize)
    for (std::uint32_t left = 1; left < elements_in(16, type); ++left)
      for (const std::int32_t at : {0, inner_step(type), 2 * inner_step(type)})
        rows.emplace_back(ragged(type, left, at));
  return rows;
}

const Register kRowPadding{{
    .name = "zfill.row_padding",
    .claim = "loads end a row at its last element exactly: no byte of the padding behind it "
             "arrives",
    .cites = "PTX ISA 9.0, 5.5.3.3 out-of-boundary access",
    .rows = row_padding_rows,
}};

// The box with all of its dimensions inside but `i`, which hangs out by `overhang` elements.
TileLoad over_side(TileLoad load, std::uint32_t i, bool high, std::int32_t overhang) {
  load.at[i] = high ? highest_inside(load, i) + overhang : -overhang;
  return load;
}

// A box that hangs over one side of one dimension, by one step up to all but one.
std::vector<Op> side_rows(const RunContext& context) {
  std::vector<Op> rows;
  for (std::uint32_t rank = 1; rank <= kMaxRank; ++rank)
    for (std::uint32_t i = 0; i < rank; ++i)
      for (const bool high : {false, true})
        for (std::uint32_t size = 0; size < kTypeOfEachSize.size(); ++size) {
          // Quick runs take two of the four element sizes in turn, nightly ones all.
          const std::uint32_t turn = rank + i + size + (high ? 1 : 0);
          if (context.level == Level::quick && turn % 2 == 1) continue;
          const TileLoad load = tile_of_rank(kTypeOfEachSize[size], rank);
          const auto box = static_cast<std::int32_t>(load.map.box[i]);
          const std::int32_t step = step_of(load, i);
          rows.emplace_back(over_side(load, i, high, step));
          if (box > 2 * step) rows.emplace_back(over_side(load, i, high, box - step));
        }
  return rows;
}

const Register kSide{{
    .name = "zfill.side",
    .claim = "a box over one side of a tensor is zero outside it, unchanged inside, and credits "
             "its full size",
    .cites = "PTX ISA 9.0, 5.5.3.3 out-of-boundary access; CUDA Driver API, "
             "cuTensorMapEncodeTiled, oobFill",
    .rows = side_rows,
}};

// A swizzled box of three elements along each outer dimension, every `step` apart.
TileLoad stepped(DataType type, Swizzle swizzle, std::uint32_t rank, std::uint32_t step) {
  const std::uint32_t inner = elements_in(swizzle_bytes(swizzle), type);
  std::vector<std::uint64_t> extent{2 * inner + 1};
  std::vector<std::uint32_t> box{inner};
  for (std::uint32_t i = 1; i < rank; ++i) {
    extent.push_back(3 * step + i);
    box.push_back(2 * step + 1);
  }
  TileLoad load = tile(type, extent, box);
  for (std::uint32_t i = 1; i < rank; ++i) load.map.element_stride[i] = step;
  load.map.swizzle = swizzle;
  return load;
}

// Swizzle and element stride together, over each side of each dimension.
std::vector<Op> swizzle_stride_rows(const RunContext&) {
  std::vector<Op> rows;
  for (const Swizzle swizzle : kSwizzles)
    for (std::uint32_t rank = 2; rank <= 3; ++rank)
      for (std::uint32_t i = 0; i < rank; ++i)
        for (const bool high : {false, true})
          for (std::uint32_t turn = 0; turn < 4; ++turn) {
            const std::uint32_t step = 2 + (2 * turn + i + (high ? 1 : 0)) % 7;
            TileLoad load = stepped(kTypeOfEachSize[(turn + i) % 4], swizzle, rank, step);
            const auto end = static_cast<std::int32_t>(load.map.extent[i]);
            // Dimension 0 out by one chunk of 16 bytes; the others by one or two of three steps.
            const std::int32_t out = i == 0 ? inner_step(load.map.type)
                                            : static_cast<std::int32_t>(step * (1 + turn % 2));
            const auto last = static_cast<std::int32_t>(load.map.box[i]) - 1;
            load.at[i] = high ? end - 1 - last + out : -out;
            if (i == 0) load.at[i] -= load.at[i] % inner_step(load.map.type);
            load.destination_offset = 128 * ((2 * turn + i) % 8);
            rows.emplace_back(load);
          }
  return rows;
}

const Register kSwizzleStride{{
    .name = "zfill.swizzle_stride",
    .claim = "under a swizzle and an element stride each element taken is filled or not by its own "
             "coordinate and stands where the tables put it",
    .cites = "CUDA Driver API, cuTensorMapEncodeTiled, elementStrides; PTX ISA 9.0, 5.5.3.3 and "
             "5.5.7",
    .rows = swizzle_stride_rows,
}};

// Swizzled boxes over each corner, with zero and NaN fill, at several phases of the destination.
std::vector<Op> swizzled_rows(const RunContext&) {
  std::vector<Op> rows;
  for (const Swizzle swizzle : kSwizzles)
    for (const DataType type : {DataType::u8, DataType::bf16, DataType::f32, DataType::f64})
      for (std::uint32_t corner = 0; corner < 4; ++corner) {
        const std::uint32_t inner = elements_in(swizzle_bytes(swizzle), type);
        TileLoad load = in_corner(tile(type, {2 * inner + 1, 29}, {inner, 21}), corner, 1);
        // The far end of a row that ends off 16 bytes: back to the last chunk that begins in it.
        load.at[0] -= load.at[0] % inner_step(type);
        load.map.swizzle = swizzle;
        load.map.fill = is_floating(type) && corner % 2 == 0 ? Fill::nan : Fill::zero;
        load.destination_offset = 256 * corner + 128;
        rows.emplace_back(load);
      }
  return rows;
}

const Register kSwizzled{{
    .name = "zfill.swizzled",
    .claim = "what lies outside the tensor is filled before the swizzle moves it: fill and data "
             "both follow the tables",
    .cites = "PTX ISA 9.0, 5.5.3.3 out-of-boundary access and 5.5.7 swizzling modes",
    .rows = swizzled_rows,
}};

// A box wholly outside: just past each side of each dimension, far past it, and past all at once;
// with one box that keeps a corner inside, for comparison.
std::vector<Op> whole_rows(const RunContext&) {
  constexpr std::int32_t kFar = 1 << 30;
  std::vector<Op> rows;
  for (const DataType type : {DataType::u16, DataType::f64})
    for (std::uint32_t rank = 1; rank <= kMaxRank; ++rank) {
      const TileLoad load = tile_of_rank(type, rank);
      for (std::uint32_t i = 0; i < rank; ++i) {
        const auto past = static_cast<std::int32_t>(load.map.extent[i]);
        const auto box = static_cast<std::int32_t>(load.map.box[i]);
        for (const std::int32_t to : {past, past + step_of(load, i), -box, kFar, -kFar})
          rows.emplace_back(moved(load, i, to));
      }
      rows.emplace_back(in_corner(load, 0, 1));
      if (rank == 1) continue;  // far along its one dimension, it has been
      TileLoad far = load;
      for (std::uint32_t i = 0; i < rank; ++i) far.at[i] = i % 2 == 0 ? -kFar : kFar;
      rows.emplace_back(far);
    }
  return rows;
}

const Register kWhole{{
    .name = "zfill.whole",
    .claim = "a box wholly outside the tensor arrives as zeros and still credits its full size",
    .cites = "PTX ISA 9.0, 5.5.3.3 out-of-boundary access; 9.7.9.25.5.2 cp.async.bulk.tensor, "
             "complete-tx",
    .rows = whole_rows,
}};

}  // namespace
}  // namespace tidemark
