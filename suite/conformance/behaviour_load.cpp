// What the hardware does with loads where the documents stop: layout, corners, bits of NaN.
#include <algorithm>
#include <cstring>

#include <fmt/format.h>

#include "suite/case.hpp"
#include "suite/conformance/interleave.hpp"
#include "suite/conformance/load_store_im2col.hpp"
#include "suite/conformance/tile.hpp"
#include "suite/oracle/expectation.hpp"

namespace tidemark {
namespace {

using Corners = std::array<std::int32_t, kMaxSpatial>;

TileLoad cornered(const std::vector<std::uint64_t>& extent, const Corners& lower,
                  const Corners& upper) {
  TileLoad load = im2col_load(DataType::u16, extent, 16, 150);
  const std::int32_t first = std::max({lower[0], lower[1], lower[2]});  // in either box
  load = with_corners(load, first, 0);
  load.map.lower_corner = lower;
  load.map.upper_corner = upper;
  load.held_to = HeldTo::measurement;
  return load;
}

// Corners that differ along W, H and D: in which order cuTensorMapEncodeIm2col takes them. cuda.h
// writes {D, H, W}, CUTLASS passes {W, H, D}.
std::vector<Op> im2col_corners_rows(const RunContext&) {
  std::vector<Op> rows;
  for (const std::uint32_t offset : {0U, 2U}) {
    rows.emplace_back(with_offset(cornered({24, 9, 7, 3}, {-1, 0}, {0, -2}), offset));
    rows.emplace_back(with_offset(cornered({24, 9, 7, 3}, {-2, 0}, {0, 0}), offset));
    rows.emplace_back(with_offset(cornered({24, 9, 7, 3}, {0, 0}, {-3, 1}), offset));
    rows.emplace_back(with_offset(cornered({24, 5, 6, 7, 2}, {-1, 0, 1}, {0, 0, 0}), offset));
    rows.emplace_back(with_offset(cornered({24, 5, 6, 7, 2}, {0, 0, 0}, {-2, 0, 1}), offset));
    rows.emplace_back(with_offset(cornered({24, 5, 6, 7, 2}, {-1, -1, 0}, {-1, 1, 1}), offset));
  }
  return rows;
}

const Register kIm2colCorners{{
    .name = "behaviour.load.im2col_corners",
    .claim = "an im2col load by a map whose corners differ along W, H and D takes them in this "
             "order",
    .cites = "measured on an H100, driver 580.159.04; CUTLASS, copy_traits_sm90_im2col.hpp: {W, H, "
             "D}; CUDA Driver API, cuTensorMapEncodeIm2col, pixelBoxLowerCorner: {D, H, W}",
    .rows = im2col_corners_rows,
}};

// Loads by interleaved maps: what a unit, a slice and the element stride of dimension 0 are, which
// no document says.
std::vector<Op> interleave_rows(const RunContext&) {
  std::vector<Op> rows;
  for (const TileLoad& load : interleaved_loads()) {
    rows.emplace_back(load);
    rows.emplace_back(with_element_strides(load));
    for (const bool far : {false, true}) rows.emplace_back(over_end(load, far));
  }
  for (const std::int32_t slice : {-1, 0, 2, 3}) {  // of three
    TileLoad load = interleaved_load(DataType::f16, Interleave::b16, 4);
    load.at[2] = slice;
    load.map.fill = Fill::nan;
    rows.emplace_back(load);
  }
  return rows;
}

const Register kInterleave{{
    .name = "behaviour.load.interleave",
    .claim =
        "a load by an interleaved map takes units of 16 or 32 bytes along dimension 0, whatever "
        "the type, an element stride apart, of one slice of channels, and packs its rows",
    .cites = "measured on an H100, driver 580.159.04, 2026-11; PTX ISA 9.0, 5.5.6, names NC/8HWC8 "
             "and NC/16HWC16 alone",
    .rows = interleave_rows,
}};

// Loads by interleaved maps drawn at random; more of them at the higher levels.
std::vector<Op> interleave_random_rows(const RunContext& context) {
  return drawn_rows(context, {128, 1000, 4000}, random_interleaved_load);
}

const Register kInterleaveRandom{{
    .name = "behaviour.load.interleave_random",
    .claim = "any load by an interleaved map that the encoder takes moves the units that "
             "behaviour.load.interleave says, however its features meet",
    .cites = "measured on an H100, driver 580.159.04, 2026-11; PTX ISA 9.0, 5.5.6, names NC/8HWC8 "
             "and NC/16HWC16 alone",
    .rows = interleave_random_rows,
}};

// NVIDIA H200, driver 580.159.04, 2026-11: the same 16 bits over and over in each of the seven
// floating types, in two runs in two processes.
constexpr std::uint16_t kMeasuredWord = 0x7ff7;
constexpr std::string_view kMeasuredOn = "H200, driver 580.159.04, 2026-11";

std::vector<Miscompare> unlike_measured(const Op& op, const RunResult& result) {
  const auto& load = std::get<TileLoad>(op);
  const Expectation expected = predict(load);
  Miscompare found;
  std::uint64_t wrong = 0;
  for (std::size_t i = 0; i + 1 < expected.compare.size(); i += 2) {
    if (expected.compare[i] != Compare::nan_element) continue;
    std::uint16_t word = 0;
    std::memcpy(&word, &result.bytes[i], sizeof(word));
    if (word == kMeasuredWord) continue;
    if (wrong++ != 0) continue;
    found.first_offset = i;
    found.actual = word;
  }
  if (wrong == 0) return {};
  found.what = "behaviour";
  found.wrong_bytes = 2 * wrong;
  found.expected = kMeasuredWord;
  found.text = fmt::format(
      "NaN fill of {}: a 16-bit word is 0x{:04x} where 0x{:04x} was measured ({}); {} words differ",
      name_of(load.map.type), found.actual, kMeasuredWord, kMeasuredOn, wrong);
  return {found};
}

// The bits of the NaN that fills what lies outside the tensor. The documents promise a NaN and not
// which: the bits are held against a measurement.
std::vector<Op> nan_bits_rows(const RunContext&) {
  std::vector<Op> rows;
  for (const DataType type : kFloatingTypes) {
    TileLoad load = tile_of_rank(type, 3);
    load.map.fill = Fill::nan;
    for (std::uint32_t corner = 0; corner < 1U << 3; ++corner)
      rows.emplace_back(in_corner(load, corner, 1));
    load.at[2] = 1000;  // nothing but fill
    rows.emplace_back(load);
    load.map.swizzle = Swizzle::b64;
    rows.emplace_back(in_corner(load, 5, 1));
  }
  return rows;
}

const Register kNanBits{{
    .name = "behaviour.load.nan_bits",
    .claim = "the NaN of NaN fill is 0x7ff7 in every 16 bits of each floating type",
    .cites = "measured on an H200, driver 580.159.04, 2026-11; no document names the bits",
    .rows = nan_bits_rows,
    .unlike_measured = unlike_measured,
}};

// Boxes whose rows are narrower than the swizzle. The encoder takes them; how their rows lie in
// shared memory, and what is credited, no document says.
std::vector<Op> narrow_swizzle_rows(const RunContext&) {
  std::vector<Op> rows;
  for (const DataType type : kTypeOfEachSize)
    for (const Swizzle swizzle : kSwizzles)
      for (std::uint32_t inner = 16; inner < swizzle_bytes(swizzle); inner += 16)
        for (const std::uint32_t offset : {0U, 384U}) {
          TileLoad load = tile_of_rank(type, 3);
          load.map.box = {elements_in(inner, type), 4, 3};
          load.map.swizzle = swizzle;
          load.destination_offset = offset;
          load.held_to = HeldTo::measurement;
          rows.emplace_back(load);
          load.at = {inner_step(type) * 10, -2, 3};  // outside on three sides
          rows.emplace_back(load);
        }
  return rows;
}

const Register kNarrowSwizzle{{
    .name = "behaviour.load.narrow_swizzle",
    .claim = "rows of a box that are narrower than the swizzle lie one swizzle width apart, each "
             "swizzled as if it were whole; the gaps behind them are left alone and not credited",
    .cites = "measured on an H200, driver 580.159.04, 2026-11, u8, bf16 and u32, every width below "
             "32, 64 and 128 bytes; no document says how such rows lie",
    .rows = narrow_swizzle_rows,
}};

// `extent` in rows of 64 bytes, of which a box of 2 in each outer dimension takes 48.
TileLoad strided(DataType type, std::vector<std::uint64_t> extent,
                 const std::array<std::uint64_t, kMaxRank - 1>& stride) {
  extent.insert(extent.begin(), elements_in(64, type));
  std::vector<std::uint32_t> box(extent.size(), 2);
  box[0] = elements_in(48, type);
  TileLoad load = tile(type, extent, box);
  load.map.stride = stride;
  for (std::uint32_t i = 1; i < load.map.rank; ++i)
    load.at[i] = static_cast<std::int32_t>(extent[i] / 3);
  return load;
}

// Strides that descend or stay below the row, and those of dimensions of one element.
std::vector<Op> strides_rows(const RunContext&) {
  constexpr std::uint64_t kLongest = (std::uint64_t{1} << 40) - 16;
  std::vector<Op> rows;
  for (const DataType type : {DataType::u8, DataType::bf16, DataType::u64}) {
    rows.emplace_back(strided(type, {3, 5}, {1600, 320}));
    rows.emplace_back(strided(type, {3, 5}, {48, 16}));
    rows.emplace_back(strided(type, {3, 4, 5, 2}, {2560, 640, 128, 64}));
    rows.emplace_back(strided(type, {3, 4, 5, 2}, {64, 384, 1536, 192}));
    for (const std::uint64_t stride : {std::uint64_t{16}, std::uint64_t{48}, kLongest}) {
      rows.emplace_back(strided(type, {1, 5}, {stride, 80}));
      rows.emplace_back(strided(type, {5, 1}, {80, stride}));
    }
    for (const std::uint64_t stride : {16U, 32U, 48U, 208U}) {
      rows.emplace_back(strided(type, {9}, {stride}));
      rows.emplace_back(strided(type, {5, 4}, {80, stride}));
      rows.emplace_back(strided(type, {5, 4}, {stride, 80}));
    }
  }
  return rows;
}

const Register kStrides{{
    .name = "behaviour.load.strides",
    .claim =
        "rows may begin in the row before, strides may descend, and a dimension of one element "
        "may have any: a load takes each element where the strides say",
    .cites = "measured on an H200, driver 580.159.04, 2026-11; CUDA Driver API, "
             "cuTensorMapEncodeTiled, globalStrides, has each a multiple of the one before and no "
             "shorter than its row",
    .rows = strides_rows,
}};

// Swizzled tensors off 128 bytes.
std::vector<Op> swizzled_base_rows(const RunContext&) {
  std::vector<Op> rows;
  for (const Swizzle swizzle : kSwizzles)
    for (const DataType type : {DataType::u8, DataType::f64})
      for (std::uint32_t i = 1; i < 16; ++i) {
        const std::uint32_t inner = elements_in(swizzle_bytes(swizzle), type);
        TileLoad load = tile(type, {2 * inner, 23}, {inner, 17}, {inner_step(type), 4});
        load.map.swizzle = swizzle;
        load.map.base_offset = 16 * i + (i > 7 ? 784 : 0);
        load.destination_offset = 128 * (i % 8);
        rows.emplace_back(load);
        rows.emplace_back(store_of(load));
      }
  return rows;
}

const Register kSwizzledBase{{
    .name = "behaviour.swizzled_base",
    .claim = "under a swizzle, too, loads and stores take tensors that start on any 16 bytes, and "
             "their address does not turn the swizzle",
    .cites = "measured on an H200, driver 580.159.04, 2026-11; CUDA Driver API, "
             "cuTensorMapEncodeTiled, globalAddress: 16 bytes; CUDA C++ Programming Guide 13.1, "
             "10.29.3.2: 128",
    .rows = swizzled_base_rows,
}};

// The tensor holds any words, whatever the type of the map: of 8,192 about one lies halfway between
// two numbers of tf32, 32 are subnormal and 64 are NaN.
Op of_any_words(TileLoad load) {
  load.held_to = HeldTo::measurement;
  Program program = program_of(load);
  program.regions[0].element = DataType::f32;
  return program;
}

// Words that a map of tf32 cannot hold, loaded by one: cuda.h names the types and not the rounding.
std::vector<Op> tf32_rows(const RunContext&) {
  constexpr std::int32_t kRows = 16;  // of each type: no half to even in all of them once in e^8
  std::vector<Op> rows;
  for (const DataType type : {DataType::f32_ftz, DataType::tf32, DataType::tf32_ftz}) {
    for (std::int32_t first_row = 0; first_row < kRows; ++first_row)
      rows.emplace_back(of_any_words(tile(type, {256, 31 + kRows}, {256, 32}, {0, first_row})));
    TileLoad load = in_corner(tile_of_rank(type, 3), 5, 1);
    rows.emplace_back(of_any_words(load));
    load.map.swizzle = Swizzle::b64;
    rows.emplace_back(of_any_words(load));
  }
  return rows;
}

const Register kTf32{{
    .name = "behaviour.load.tf32",
    .claim = "a load by tf32 or tf32_ftz rounds to ten mantissa bits, ties to even, subnormal "
             "numbers too, and makes every NaN 0x7fffe000; one by f32_ftz changes nothing",
    .cites = "measured on an H100, driver 580.159.04, 2026-11, each of the 2^32 words; CUDA Driver "
             "API, cuTensorMapEncodeTiled, names the types and says nothing of rounding",
    .rows = tf32_rows,
}};

// Sweeps the announcement of a copy. Which of them complete early says in what pieces a GPU
// credits: the PTX ISA does not. On an H200 (driver 580.159.04, November 2026) there is no fixed
// size, and an announcement that completed early in one run did not in the next; but every piece is
// a multiple of 32 bytes where each row of the box is made of whole 32-byte sectors of memory, and
// a multiple of 16 elsewhere. So early completion is a race at multiples of that step, and is wrong
// between them.

void append_sweep(std::vector<Op>& rows, const TileLoad& load, std::uint32_t step) {
  for (std::uint32_t announced = step; announced < tile_bytes(load.map); announced += step)
    rows.emplace_back(announce(load, announced));
}

// Off the step of every box.
void append_odd(std::vector<Op>& rows, const TileLoad& load) {
  const std::uint32_t bytes = tile_bytes(load.map);
  for (const std::uint32_t announced : {1U, 8U, bytes / 2 + 8, bytes - 8, bytes - 1})
    rows.emplace_back(announce(load, announced));
}

// Rows that begin, or end, in the middle of a sector, both or neither. No two boxes have the same
// size, so that notes tell them apart.
std::vector<TileLoad> boxes_by_sector() {
  return {
      tile(DataType::u8, {128, 16}, {64, 9}, {0, 1}),    // neither: 576 bytes
      tile(DataType::u8, {128, 16}, {64, 6}, {16, 1}),   // both: 384
      tile(DataType::u8, {128, 16}, {48, 6}, {0, 1}),    // end: 288
      tile(DataType::u8, {128, 16}, {48, 10}, {16, 1}),  // begin: 480
  };
}

std::vector<Op> under_rows(const RunContext& context) {
  std::vector<Op> rows;
  std::vector<TileLoad> boxes = boxes_by_sector();
  if (context.level == Level::quick) {
    append_sweep(rows, mismatch_boxes()[3], 16);   // 2 KiB, swizzled, whole sectors
    append_sweep(rows, mismatch_boxes()[5], 128);  // 8 KiB
  } else {
    for (const TileLoad& load : mismatch_boxes()) boxes.push_back(load);
  }
  for (const TileLoad& load : boxes) {
    append_sweep(rows, load, 16);
    append_odd(rows, load);
  }
  return rows;
}

const Register kUnder{{
    .name = "behaviour.expect_tx.under",
    .claim = "under-announced, a phase completes early only at a multiple of 32 bytes where the "
             "box is read in whole sectors and of 16 elsewhere, and owes the rest either way",
    .cites = "measured on an H200, driver 580.159.04, 2026-11; PTX ISA 9.0, 9.7.13.15.6 phase "
             "completion, and 9.7.9.25.5.2, which says nothing of the size of the pieces",
    .rows = under_rows,
}};

}  // namespace
}  // namespace tidemark
