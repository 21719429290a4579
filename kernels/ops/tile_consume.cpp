// Consumed tiles and warp reads as programs.
#include "kernels/ops/tile_consume.hpp"

#include <fmt/format.h>

#include "kernels/error.hpp"

namespace tidemark {
namespace {

/// Which of extent and at the two dimensions of a tensor are: M, N, K are 0, 1, 2.
struct TensorDimensions {
  std::uint32_t inner = 2, outer = 0;
};

TensorDimensions dimensions_of(const TileConsume& op, GemmOperand which) {
  const std::uint32_t mn = which == GemmOperand::a ? 0 : 1;
  if ((which == GemmOperand::a ? op.a : op.b).major == Major::k) return {.inner = 2, .outer = mn};
  return {.inner = mn, .outer = 2};
}

/// Bytes from one row of a tensor to the next: never packed, so that the pitch matters.
std::uint64_t tensor_pitch(const TileConsume& op, GemmOperand which) {
  const std::uint64_t row = op.extent[dimensions_of(op, which).inner] * element_bytes(op.type);
  return (row + 15) / 16 * 16 + 16;
}

/// Bytes from the first to past the last row of a tensor.
std::uint64_t tensor_span(const TileConsume& op, GemmOperand which) {
  return op.extent[dimensions_of(op, which).outer] * tensor_pitch(op, which);
}

/// Where a tensor starts in the region, less kGuardBytes: A first, a guard between. Swizzled
/// tensors on 128 bytes, as the stricter of two documents asks.
std::uint64_t tensor_start(const TileConsume& op, GemmOperand which) {
  if (which == GemmOperand::a) return 0;
  return (tensor_span(op, GemmOperand::a) + kGuardBytes + 127) / 128 * 128;
}

std::uint64_t region_bytes(const TileConsume& op) {
  const std::uint64_t end = tensor_start(op, GemmOperand::b) + tensor_span(op, GemmOperand::b);
  return kGuardBytes + (end + 15) / 16 * 16 + kGuardBytes;
}

}  // namespace

TileLoad box_load(const TileConsume& op, GemmOperand which, std::uint32_t box) {
  const Wgmma product = wgmma_of(op);
  const WgmmaOperand& operand = operand_of(product, which);
  const TensorDimensions of = dimensions_of(op, which);
  const std::uint32_t inner = span_bytes(operand.swizzle) / element_bytes(op.type);
  TileLoad load;
  load.map.type = data_type(op.type);
  load.map.rank = 2;
  load.map.extent = {op.extent[of.inner], op.extent[of.outer]};
  load.map.stride = {tensor_pitch(op, which)};
  load.map.box = {inner, tile_outer(product, which)};
  load.map.swizzle = operand.swizzle;
  load.map.base_offset = static_cast<std::uint32_t>(tensor_start(op, which));
  load.at = {op.at[of.inner] + static_cast<std::int32_t>(box * inner), op.at[of.outer]};
  load.destination_offset = operand.offset - kGuardBytes + box * box_bytes(product, which);
  load.payload = op.payload;
  return load;
}

Program program_of(const TileConsume& op) {
  const Wgmma product = wgmma_of(op);
  if (const std::string_view why = shape_refusal(product); !why.empty())
    throw Error(fmt::format("tile consume: {}", why));
  constexpr GemmOperand kOperands[] = {GemmOperand::a, GemmOperand::b};
  const std::uint32_t to = product_offset(product);
  Program program{.window = to + product_bytes(product) + kGuardBytes,
                  .barriers = 1,
                  .regions = {{.bytes = region_bytes(op),
                               .element = data_type(op.type),
                               .numbers = integers_in(op.type)}},
                  .maps = {},
                  .products = {product},
                  .steps = {{.verb = Verb::init}, {.verb = Verb::test}},
                  .payload = op.payload};
  program.steps.push_back(
      {.verb = Verb::arrive_expect_tx,
       .bytes = operand_bytes(product, GemmOperand::a) + operand_bytes(product, GemmOperand::b)});
  for (const GemmOperand which : kOperands) {
    program.maps.push_back({.spec = box_load(op, which, 0).map});
    for (std::uint32_t box = 0; box < box_count(product, which); ++box) {
      const TileLoad load = box_load(op, which, box);
      program.steps.push_back({.verb = Verb::load,
                               .map = static_cast<std::uint8_t>(program.maps.size() - 1),
                               .offset = kGuardBytes + load.destination_offset,
                               .at = load.at});
    }
  }
  program.steps.insert(program.steps.end(),
                       {{.verb = Verb::wait, .stops = true, .ns = kMustCompleteNs},
                        {.verb = Verb::test, .parity = 1},
                        {.verb = Verb::wgmma, .offset = to},
                        {.verb = Verb::snapshot}});
  return program;
}

Program program_of(const TileRead& read) {
  const TensorMapSpec& map = read.load.map;
  const bool unsplit = read.placement == TilePlacement::unsplit;
  const std::uint32_t loaded = kGuardBytes + read.load.destination_offset;
  const std::uint32_t area = (window_bytes(read.load) + 1023) / 1024 * 1024;
  const std::uint32_t tile = (tile_bytes(map) + 15) / 16 * 16;
  const std::uint32_t lanes = (unsplit ? area + tile : area) + kGuardBytes;
  const auto to = static_cast<std::int32_t>(lanes);
  Program program{.window = lanes + kWarpLanes * kReadBytes + kGuardBytes,
                  .barriers = 1,
                  .regions = {region_of(read.load)},
                  .maps = {{.spec = map}},
                  .steps = {{.verb = Verb::init},
                            {.verb = Verb::arrive_expect_tx, .bytes = tile_bytes(map)},
                            {.verb = Verb::load, .offset = loaded, .at = read.load.at},
                            {.verb = Verb::wait, .stops = true, .ns = kMustCompleteNs}},
                  .payload = read.load.payload};
  if (unsplit)
    program.steps.push_back(
        {.verb = Verb::place_rows, .offset = loaded, .at = {static_cast<std::int32_t>(area)}});
  program.steps.push_back({.verb = Verb::read_columns,
                           .offset = unsplit ? area : loaded,
                           .stride = pitch_of(read),
                           .at = {to, static_cast<std::int32_t>(read.first_column)}});
  program.steps.push_back({.verb = Verb::snapshot});
  return program;
}

}  // namespace tidemark
