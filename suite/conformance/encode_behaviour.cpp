// What the driver's encoder of tensor maps accepts: sound calls, calls that break one documented
// precondition, and calls about which cuda.h is silent. The same in each launch.
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <initializer_list>
#include <span>
#include <string>
#include <vector>

#include "suite/case.hpp"
#include "suite/conformance/tile.hpp"
#include "suite/oracle/encoder_rules.hpp"

namespace tidemark {
namespace {

constexpr auto kAllTypes = [] {
  std::array<DataType, kDataTypes> types{};
  for (std::uint32_t i = 0; i < kDataTypes; ++i) types[i] = static_cast<DataType>(i);
  return types;
}();

/// Changes a call, or leaves it and returns false where there is nothing to change. Dimension `i`
/// where it is of one; others are asked for dimension 0 alone.
struct Change {
  std::string_view what;
  bool (*apply)(Encode& call, std::uint32_t i);
  bool of_each_dimension = false;
};

using Spec = const TensorMapSpec&;

bool is_im2col(const Encode& call) { return call.map.im2col; }
bool is_tiled(const Encode& call) { return !call.map.im2col; }
bool has_units(const Encode& call) { return is_interleaved(call.map); }
bool has_units_of_32(const Encode& call) { return call.map.interleave == Interleave::b32; }
bool is_high(const Encode& call) { return is_im2col(call) || has_units(call); }
bool is_low(const Encode& call) { return !is_high(call); }
bool is_floating(const Encode& call) { return is_floating(call.map.type); }
bool is_integral(const Encode& call) { return !is_floating(call.map.type); }

template <std::uint64_t kExtent>
bool extent(Encode& call, std::uint32_t i) {
  call.map.extent[i] = kExtent;
  return true;
}
template <std::uint64_t kStride>
bool stride(Encode& call, std::uint32_t i) {
  if (i == 0) return false;
  call.map.stride[i - 1] = kStride;
  return true;
}
template <std::uint32_t kBytes>
bool more_stride(Encode& call, std::uint32_t i) {
  if (i == 0) return false;
  call.map.stride[i - 1] += kBytes;
  return true;
}
template <std::uint32_t kBox>
bool box(Encode& call, std::uint32_t i) {
  call.map.box[i] = kBox;
  return !call.map.im2col;
}
template <std::uint32_t kStep>
bool step(Encode& call, std::uint32_t i) {
  call.map.element_stride[i] = kStep;
  return i > 0 || is_interleaved(call.map);
}
template <std::uint32_t kStep>
bool first_step(Encode& call, std::uint32_t) {
  call.map.element_stride[0] = kStep;
  return !is_interleaved(call.map);
}
template <std::uint32_t kBytes>
bool address(Encode& call, std::uint32_t) {
  call.map.base_offset = kBytes;
  return true;
}
template <std::uint32_t kBytes>
bool map_place(Encode& call, std::uint32_t) {
  call.map_offset = kBytes;
  return true;
}
template <std::uint32_t kRank>
bool rank(Encode& call, std::uint32_t) {
  call.map.rank = kRank;
  return true;
}
template <std::uint8_t kType>
bool type(Encode& call, std::uint32_t) {
  call.map.type = DataType{kType};
  return true;
}
template <std::uint8_t kInterleave>
bool interleave(Encode& call, std::uint32_t) {
  call.map.interleave = Interleave{kInterleave};
  return true;
}
template <std::uint8_t kSwizzle>
bool swizzle(Encode& call, std::uint32_t) {
  call.map.swizzle = Swizzle{kSwizzle};
  return true;
}
template <std::uint8_t kPromotion>
bool promotion(Encode& call, std::uint32_t) {
  call.map.l2_promotion = L2Promotion{kPromotion};
  return true;
}
template <std::uint8_t kFill>
bool fill(Encode& call, std::uint32_t) {
  call.map.fill = Fill{kFill};
  return true;
}
template <std::uint64_t kAddress>
bool replacement(Encode& call, std::uint32_t) {
  call.replacement = kEncodeAddress + kAddress;
  return true;
}
/// Of both corners, along each axis.
template <std::int32_t kBeyond, bool kUpper>
bool corner(Encode& call, std::uint32_t i) {
  if (i >= spatial_of(call.map)) return false;
  auto& corner = kUpper ? call.map.upper_corner[i] : call.map.lower_corner[i];
  corner =
      kUpper ? highest_corner(call.map.rank) + kBeyond : lowest_corner(call.map.rank) - kBeyond;
  return call.map.im2col;
}
template <std::uint32_t kChannels>
bool channels(Encode& call, std::uint32_t) {
  call.map.box[0] = kChannels;
  return call.map.im2col;
}
template <std::uint32_t kPixels>
bool pixels(Encode& call, std::uint32_t) {
  call.map.box[1] = kPixels;
  return call.map.im2col;
}

/// The change, of calls that `kWhere` is true of.
template <bool (*kWhere)(const Encode&), bool (*kChange)(Encode&, std::uint32_t)>
bool where(Encode& call, std::uint32_t i) {
  return kWhere(call) && kChange(call, i);
}
/// The change, of the last dimension.
template <bool (*kChange)(Encode&, std::uint32_t)>
bool of_last(Encode& call, std::uint32_t i) {
  return i > 0 && i + 1 == call.map.rank && kChange(call, i);
}
bool is_sound(Encode&, std::uint32_t) { return true; }
bool wide_inner_rows(Encode& call, std::uint32_t) {
  call.map.box[0] = 2 * swizzle_bytes(call.map.swizzle) / element_bytes(call.map.type);
  return !is_interleaved(call.map) && call.map.swizzle != Swizzle::none;
}
bool no_pixel(Encode& call, std::uint32_t) {
  call.map.extent[1] = 8;  // within the corner's bits at rank 5, too
  call.map.upper_corner[0] = -8;
  return call.map.im2col;
}
bool no_strides(Encode& call, std::uint32_t) { return call.no_strides = call.map.rank == 1; }
template <std::uint64_t kAddress>
bool tensor_at(Encode& call, std::uint32_t) {
  call.address = kAddress;
  return true;
}
bool large_box(Encode& call, std::uint32_t) {
  TensorMapSpec& map = call.map;
  for (std::uint32_t i = 1; i < 3; ++i) map.box[i] = 256, map.extent[i] = 256;
  for (std::uint32_t i = 1; i < 4; ++i) map.stride[i] = map.stride[i - 1] * 256;
  return map.rank > 2 && !is_high(call);
}
/// Of the last dimension, and the tensor as wide.
bool full_box(Encode& call, std::uint32_t i) {
  TensorMapSpec& map = call.map;
  if (is_high(call) || i + 1 != map.rank || (i == 0 && map.swizzle != Swizzle::none)) return false;
  for (std::uint32_t other = 1; other < i; ++other) map.box[other] = 1;
  map.box[i] = 256;
  map.extent[i] = 256;
  return true;
}
bool full_channels(Encode& call, std::uint32_t) {
  TensorMapSpec& map = call.map;
  map.box[0] = 256;
  map.extent[0] = 256;
  for (std::uint64_t& stride : map.stride) stride *= 2;
  return map.im2col && map.swizzle == Swizzle::none;
}
template <std::uint32_t kBytes>
bool inner_rows(Encode& call, std::uint32_t) {
  TensorMapSpec& map = call.map;
  map.box[0] = kBytes / element_bytes(map.type);
  return !has_units(call) && map.box[0] <= map.extent[0] &&
         (map.swizzle == Swizzle::none || kBytes <= swizzle_bytes(map.swizzle));
}
bool narrow_channels(Encode& call, std::uint32_t) {
  call.map.box[0] = 8 / element_bytes(call.map.type);
  return call.map.im2col;
}

constexpr auto kSound = std::to_array<Change>({
    {"a sound call", is_sound},
    {"another address afterwards", replacement<4096 + 32>},
    {"the map 64 bytes on", map_place<64>},
    {"the map 128 bytes on", map_place<128>},
    {"an L2 promotion of 64 bytes", promotion<1>},
    {"an L2 promotion of 128 bytes", promotion<2>},
    {"an L2 promotion of 256 bytes", promotion<3>},
    {"NaN fill", where<is_floating, fill<1>>},
    {"an extent of 2^32", of_last<extent<1ULL << 32>>, true},
    {"a stride 32 above the last", of_last<more_stride<32>>, true},
    {"a stride of 2^40 - 32", of_last<stride<(1ULL << 40) - 32>>, true},
    {"a box of 1", of_last<box<1>>, true},
    {"a box of 256", full_box, true},
    {"256 channels", full_channels},
    {"1024 pixels", pixels<1024>},
    {"inner rows of 16 bytes", inner_rows<16>},
    {"inner rows of 48 bytes", inner_rows<48>},
    {"inner rows of 80 bytes", inner_rows<80>},
    {"inner rows of 144 bytes", inner_rows<144>},
    {"an element stride of 8", step<8>, true},
    {"a first element stride of 2", first_step<2>},
    {"a lower corner at its limit", corner<0, false>, true},
    {"an upper corner at its limit", corner<0, true>, true},
});
constexpr std::span<const Change> kControls = std::span(kSound).first(2);

constexpr Change kNanOfIntegers{"NaN fill of integers", where<is_integral, fill<1>>};
constexpr DataType kSigned[] = {DataType::s32, DataType::s64};

constexpr auto kForbidden = std::to_array<Change>({
    kNanOfIntegers,
    {"data type 16", type<16>},
    {"data type 255", type<255>},
    {"rank 0", rank<0>},
    {"rank 6", rank<6>},
    {"rank 1 of one that takes 3", where<is_high, rank<1>>},
    {"rank 2 of one that takes 3", where<is_high, rank<2>>},
    {"an address 1 byte off", address<1>},
    {"an address 2 bytes off", address<2>},
    {"an address 4 bytes off", address<4>},
    {"an address 8 bytes off", address<8>},
    {"an address 16 bytes off", where<has_units_of_32, address<16>>},
    {"another address afterwards, 8 bytes off", replacement<8>},
    {"an extent of 0", extent<0>, true},
    {"an extent of 2^32 + 1", extent<(1ULL << 32) + 1>, true},
    {"an extent of 2^63", extent<1ULL << 63>, true},
    {"a stride 1 byte off", more_stride<1>, true},
    {"a stride 4 bytes off", more_stride<4>, true},
    {"a stride 8 bytes off", more_stride<8>, true},
    {"a stride 16 bytes off", where<has_units_of_32, more_stride<16>>, true},
    {"a stride of 2^40", stride<1ULL << 40>, true},
    {"a box of 0", box<0>, true},
    {"a box of 257", box<257>, true},
    {"inner rows of one element", where<is_low, box<1>>},
    {"inner rows above the swizzle", wide_inner_rows},
    {"an element stride of 0", step<0>, true},
    {"an element stride of 9", step<9>, true},
    {"interleave 3", interleave<3>},
    {"interleave 255", interleave<255>},
    {"swizzle 7", swizzle<7>},
    {"swizzle 255", swizzle<255>},
    {"an L2 promotion of 4", promotion<4>},
    {"an L2 promotion of 255", promotion<255>},
    {"fill 2", fill<2>},
    {"fill 255", fill<255>},
    {"a lower corner 1 beyond its bits", corner<1, false>, true},
    {"an upper corner 1 beyond its bits", corner<1, true>, true},
    {"a bounding box of no pixel", no_pixel},
    {"257 channels", channels<257>},
    {"1025 pixels", pixels<1025>},
});

constexpr auto kOpen = std::to_array<Change>({
    {"the map 8 bytes on", map_place<8>},
    {"the map 16 bytes on", map_place<16>},
    {"the map 32 bytes on", map_place<32>},
    {"null for the strides of rank 1", no_strides},
    {"a null address", tensor_at<0>},
    {"an address of 2^64 - 4096", tensor_at<0ULL - 4096>},
    {"a stride of 0", stride<0>, true},
    {"a stride of 32", stride<32>, true},
    {"data type 13", type<13>},
    {"data type 14", type<14>},
    {"data type 15", type<15>},
    {"swizzle 4", swizzle<4>},
    {"swizzle 5", swizzle<5>},
    {"swizzle 6", swizzle<6>},
    {"units of 32 bytes, another address afterwards, 16 bytes off",
     where<has_units_of_32, replacement<16>>},
    {"units of 32 bytes, swizzle 0", where<has_units_of_32, swizzle<0>>},
    {"units of 32 bytes, swizzle 2", where<has_units_of_32, swizzle<2>>},
    {"units of 32 bytes, swizzle 3", where<has_units_of_32, swizzle<3>>},
    {"a box of 1 unit", where<has_units, box<1>>},
    {"a first element stride of 0", first_step<0>},
    {"a first element stride of 9", first_step<9>},
    {"a box above the tensor", where<is_tiled, extent<2>>, true},
    {"a box above shared memory", large_box},
    {"0 channels", channels<0>},
    {"0 pixels", pixels<0>},
    {"channels of 8 bytes", narrow_channels},
    {"im2col, interleave 1", where<is_im2col, interleave<1>>},
    {"im2col, interleave 2", where<is_im2col, interleave<2>>},
});

std::string words_of(Spec map) {
  const std::string_view layout = map.im2col                          ? "im2col"
                                  : map.interleave == Interleave::b16 ? "units of 16"
                                  : map.interleave == Interleave::b32 ? "units of 32"
                                                                      : "tiled";
  return fmt::format("{}, {}, rank {}, swizzle {}", layout, name_of(map.type), map.rank,
                     swizzle_bytes(map.swizzle));
}

/// Rows of 128 elements or units and less along the other dimensions, dense; boxes of 16 bytes, or
/// as wide as the swizzle.
Encode sound(DataType type, std::uint32_t rank, Interleave interleave, Swizzle swizzle,
             bool im2col) {
  constexpr std::uint32_t kExtents[] = {128, 24, 12, 8, 6};
  Encode call;
  TensorMapSpec& map = call.map;
  map = {
      .type = type, .rank = rank, .interleave = interleave, .swizzle = swizzle, .im2col = im2col};
  std::uint64_t bytes = unit_bytes(map);
  for (std::uint32_t i = 0; i < rank; ++i) {
    map.extent[i] = kExtents[i];
    bytes *= kExtents[i];
    if (i + 1 < rank) map.stride[i] = bytes;
    map.box[i] = 4;
  }
  map.box[0] = std::max(16U, swizzle_bytes(swizzle)) / element_bytes(type);
  if (im2col) map.box[1] = 32;
  call.sound = words_of(map);
  return call;
}

std::vector<Encode> sound_calls(bool im2col, std::span<const DataType> types) {
  std::vector<Encode> calls;
  for (const DataType type : types) {
    for (std::uint32_t rank = im2col ? 3 : 1; rank <= kMaxRank; ++rank) {
      for (const Swizzle swizzle : {Swizzle::none, Swizzle::b32, Swizzle::b64, Swizzle::b128}) {
        calls.push_back(sound(type, rank, Interleave::none, swizzle, im2col));
        if (!im2col && rank >= 3)
          calls.push_back(sound(type, rank, Interleave::b16, swizzle, false));
      }
      if (!im2col && rank >= 3)
        calls.push_back(sound(type, rank, Interleave::b32, Swizzle::b32, false));
    }
  }
  return calls;
}

/// Each sound call with each change that is one, one at a time.
std::vector<Op> changed(bool im2col, std::span<const DataType> types,
                        std::initializer_list<std::span<const Change>> changes) {
  std::vector<Op> rows;
  for (const Encode& call : sound_calls(im2col, types))
    for (const std::span<const Change> some : changes)
      for (const Change& change : some)
        for (std::uint32_t i = 0; i < (change.of_each_dimension ? call.map.rank : 1); ++i) {
          Encode row = call;
          row.change = change.what;
          if (change.of_each_dimension) row.change += fmt::format(" in dimension {}", i);
          if (change.apply(row, i)) rows.emplace_back(std::move(row));
        }
  return rows;
}

std::string observed(const Op& op, const RunResult& result) {
  const auto& call = std::get<Encode>(op);
  if (documented_answer(call) != DocumentedAnswer::open) return "";
  const std::string_view change = call.change;
  return fmt::format("{}: {}", change.substr(0, change.find(" in dimension")),
                     answer_words(result));
}

std::string written_map(const Op&, const RunResult& result) {
  return result.trace.empty() ? "" : "a refused call left a map";
}

std::vector<Op> refused_rows(bool im2col) {
  std::vector<Op> rows = changed(im2col, kTypeOfEachSize, {kForbidden});
  for (Op& row : changed(im2col, kSigned, {std::span(&kNanOfIntegers, 1)}))
    rows.push_back(std::move(row));
  return rows;
}

std::vector<Op> tiled_rows(const RunContext&) { return changed(false, kAllTypes, {kSound}); }

const Register kTiled{{
    .name = "encode.tiled",
    .claim =
        "the encoder accepts sound tiled maps of every type, rank, interleave and swizzle, and "
        "a replaced address gives the map that it gives at once",
    .cites = "CUDA Driver API 13.0, cuTensorMapEncodeTiled; cuTensorMapReplaceAddress",
    .rows = tiled_rows,
}};

std::vector<Op> tiled_refused_rows(const RunContext&) { return refused_rows(false); }

const Register kTiledRefused{{
    .name = "encode.tiled.refused",
    .claim =
        "the encoder refuses a tiled map that breaks a documented precondition which drivers check",
    .cites = "CUDA Driver API 13.0, cuTensorMapEncodeTiled; cuTensorMapReplaceAddress",
    .rows = tiled_refused_rows,
    .observed = written_map,
}};

std::vector<Op> im2col_rows(const RunContext&) { return changed(true, kAllTypes, {kSound}); }

const Register kIm2col{{
    .name = "encode.im2col",
    .claim =
        "the encoder accepts sound im2col maps of every type, rank and swizzle, and a replaced "
        "address gives the map that it gives at once",
    .cites = "CUDA Driver API 13.0, cuTensorMapEncodeIm2col; cuTensorMapReplaceAddress",
    .rows = im2col_rows,
}};

std::vector<Op> im2col_refused_rows(const RunContext&) { return refused_rows(true); }

const Register kIm2colRefused{{
    .name = "encode.im2col.refused",
    .claim = "the encoder refuses an im2col map that breaks a documented precondition which "
             "drivers check",
    .cites = "CUDA Driver API 13.0, cuTensorMapEncodeIm2col; cuTensorMapReplaceAddress",
    .rows = im2col_refused_rows,
    .observed = written_map,
}};

std::vector<Op> tiled_open_rows(const RunContext&) {
  return changed(false, kTypeOfEachSize, {kControls, kOpen});
}

const Register kTiledOpen{{
    .name = "behaviour.encode.tiled",
    .claim = "tiled maps that cuda.h does not decide, or that the driver takes against it, are "
             "accepted or "
             "refused as noted, beside sound ones that are accepted",
    .cites = "CUDA Driver API 13.0, cuTensorMapEncodeTiled, as far as it goes",
    .rows = tiled_open_rows,
    .observed = observed,
}};

std::vector<Op> im2col_open_rows(const RunContext&) {
  return changed(true, kTypeOfEachSize, {kControls, kOpen});
}

const Register kIm2colOpen{{
    .name = "behaviour.encode.im2col",
    .claim = "im2col maps that cuda.h does not decide, or that the driver takes against it, are "
             "accepted or "
             "refused as noted, beside sound ones that are accepted",
    .cites = "CUDA Driver API 13.0, cuTensorMapEncodeIm2col, as far as it goes",
    .rows = im2col_open_rows,
    .observed = observed,
}};

std::vector<Op> compiled_rows(const RunContext&) {
  std::vector<Op> rows;
  for (std::uint32_t i = 0; i < kNamedKernels; ++i) rows.emplace_back(DriverFacts{.number = i});
  return rows;
}

/// Few answers as they are; many by their digest.
std::string answers_noted(const Op&, const RunResult& result) {
  constexpr std::size_t kFew = 8;
  std::vector<std::string> words;
  words.reserve(result.answers.size());
  for (const DriverAnswer& answer : result.answers)
    words.push_back(fmt::format("{} {}", answer.question, answer.answer));
  const std::string all = fmt::format("{}", fmt::join(words, ", "));
  const std::string subject = result.answers.empty() ? "" : result.answers[0].subject;
  if (words.size() <= kFew) return fmt::format("{}: {}", subject, all);
  return fmt::format("{}: {} answers, digest {:016x}", subject, words.size(), fnv1a(all));
}

const Register kCompiled{{
    .name = "behaviour.compiled",
    .claim =
        "the loaded code of each kernel is this GPU's and can start, with the registers, stack "
        "and shared memory that are noted",
    .cites = "CUDA Runtime API 13.0, cudaFuncGetAttributes",
    .rows = compiled_rows,
    .observed = answers_noted,
}};

std::vector<Op> limits_rows(const RunContext&) {
  using enum DriverSubject;
  std::vector<Op> rows;
  for (const DriverSubject subject : {attributes, limits, clusters, entry_points})
    rows.emplace_back(DriverFacts{.subject = subject});
  return rows;
}

const Register kLimits{{
    .name = "behaviour.limits",
    .claim = "device attributes are those of compute capability 9.0, clusters of up to 8 CTAs fit, "
             "the encoders are there, and the driver's other limits are as noted",
    .cites = "CUDA C++ Programming Guide 13.0, Compute Capabilities; PTX ISA 9.0, cluster size",
    .rows = limits_rows,
    .observed = answers_noted,
}};

}  // namespace
}  // namespace tidemark
